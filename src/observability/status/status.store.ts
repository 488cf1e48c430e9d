import { Injectable } from '@nestjs/common';
import { Database, sqlState } from '../../platform/database/database.js';
import { STATEMENT_TIMEOUT_MS } from '../../platform/database/settings.js';
import * as sql from './status.sql.js';
import type { StatusView } from './status.view.js';

type Outbox = StatusView['outbox'];
type Degraded = StatusView['remote']['deployment']['degraded'][number];
type Oldest = NonNullable<StatusView['oldestTransaction']>;
type Operation = Degraded | { readonly operation: Degraded['operation']; readonly health: 'healthy' };

/** The queues of the deployment, with the fields of the response. */
interface Queues
  extends Pick<StatusView, 'sessions' | 'registrations' | 'starts'>, Omit<Outbox['readers'], 'streams'> {
  readonly outbox: Omit<Outbox, 'readers'>;
  readonly contractDrift: number;
  /** Null if there is no token. */
  readonly tokenAgeSeconds: number | null;
}

/** `poller` is null and `late` empty while the table of the schedule is locked. */
type Polling = Pick<StatusView, 'poller'> & Pick<StatusView['budget'], 'late'>;

/** The facts of the deployment. `broker` is null if no process has ever used a broker. */
export interface DeploymentFacts extends Polling, Queues {
  /** The running processes, and those that stopped or vanished within the last hour. */
  readonly replicas: StatusView['replicas'];
  readonly activity: StatusView['activity'];
  readonly oldestTransaction: Oldest | null;
  readonly budget: Omit<StatusView['budget'], 'late'>;
  /** `waitSeconds`: the rest of the wait that the service requested. 0 if there is none. */
  readonly operations: readonly (Operation & { readonly waitSeconds: number })[];
}

const LOCK_NOT_AVAILABLE = '55P03';
const LOCK_TIMEOUT_MS = 500;

@Injectable()
export class StatusStore {
  constructor(private readonly database: Database) {}

  /**
   * Uses one connection at a time. Throws if a statement takes longer than `timeoutMs`, or waits too long for a lock. While session_polls or
   * poll_batches is locked, `poller` is null instead.
   */
  async readFacts(timeoutMs = STATEMENT_TIMEOUT_MS): Promise<DeploymentFacts> {
    const polling = await this.readPolling(timeoutMs);
    return this.database.transaction(async (tx) => {
      await tx.query(`SET LOCAL statement_timeout = ${timeoutMs}`);
      const [queues] = await tx.query<Queues>(sql.READ_QUEUES);
      const [budget] = await tx.query<DeploymentFacts['budget']>(sql.READ_BUDGET);
      const [activity] = await tx.query<DeploymentFacts['activity']>(sql.READ_ACTIVITY);
      const [oldestTransaction = null] = await tx.query<Oldest>(sql.FIND_OLDEST_TRANSACTION);
      const replicas = await tx.query<DeploymentFacts['replicas'][number]>(sql.LIST_REPLICAS);
      const operations = await tx.query<DeploymentFacts['operations'][number]>(sql.LIST_OPERATIONS);
      // to_json returns times as text, while the response needs dates.
      const asDate = (time: Date | null) => time && new Date(time);
      const { broker } = queues!;
      return {
        ...polling,
        ...queues!,
        broker: broker && {
          ...broker,
          publishedAt: asDate(broker.publishedAt),
          failingSince: asDate(broker.failingSince),
        },
        budget: budget!,
        activity: activity!,
        oldestTransaction,
        replicas,
        operations,
      };
    });
  }

  /** Returns the running processes, and those that stopped or vanished within the last hour. */
  listReplicas(): Promise<StatusView['replicas']> {
    return this.database.query<StatusView['replicas'][number]>(sql.LIST_REPLICAS);
  }

  /** Reads in a transaction of its own, because a lock timeout ends the transaction. */
  private async readPolling(timeoutMs: number): Promise<Polling> {
    const read = this.database.transaction(async (tx) => {
      await tx.query(`SET LOCAL statement_timeout = ${timeoutMs}`);
      await tx.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      const [row] = await tx.query<Polling>(sql.READ_POLLING);
      return row!;
    });
    return read.catch((error: unknown) => {
      if (sqlState(error) === LOCK_NOT_AVAILABLE) return { poller: null, late: [] };
      throw error;
    });
  }
}

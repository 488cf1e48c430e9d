import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { Environment } from '../platform/env/environment.js';
import { LOCK_NOT_AVAILABLE, sqlState } from '../platform/database/sql-state.js';
import { STATEMENT_TIMEOUT_MS } from '../platform/database/connection/settings.js';
import { OPERATION_CLASSES } from '../remote/outcome.rules.js';
import { summarise } from './signs/recent-calls.js';
import type { StallKind } from '../stalls/cause.rules.js';
import type { Facts } from './facts.view.js';
import type { Signs } from './replica.view.js';
import * as sql from './status.sql.js';

type Readers = Omit<Facts['outbox']['readers'], 'streams'>;
type OldestTransaction = NonNullable<Facts['oldestTransaction']>;
type Degraded = Facts['remote']['deployment']['degraded'][number];
type Operation = Degraded | { readonly operation: Degraded['operation']; readonly health: 'healthy' };

/** `poller` is null and `late` empty while the table of the schedule is locked. */
type Polling = Pick<Facts, 'poller'> & Pick<Facts['budget'], 'late'>;

/** The row of READ_QUEUES. */
interface Queues extends Pick<Facts, 'sessions' | 'brandOutages' | 'registrations' | 'starts'>, Readers {
  readonly outbox: Omit<Facts['outbox'], 'readers'>;
  readonly drift: Pick<Facts['remote']['deployment'], 'contractDrift' | 'newDrift'>;
  readonly pendingWishes: number;
  /** The time of the database. */
  readonly now: Date;
  /** How many subjects are stalled, by kind and cause. */
  readonly stalled: readonly {
    readonly kind: StallKind;
    readonly cause: string;
    readonly count: number;
  }[];
  /** Since when each reason is in the samples of the last minutes, by its code. */
  readonly reasonsSince: Readonly<Record<string, Date>>;
}

type Replica = Omit<Facts['replicas'][number], keyof Signs> & { readonly signs: Signs };

const LOCK_TIMEOUT_MS = 500;

@Injectable()
export class StatusStore {
  constructor(
    private readonly database: Database,
    private readonly environment: Environment,
  ) {}

  /**
   * Uses one connection at a time. Throws if a statement takes longer than `timeoutMs` or exceeds the lock timeout. But if session_polls or
   * poll_batches is locked, `poller` is null. `broker` is null if no process has ever used a broker.
   */
  async readFacts(timeoutMs = STATEMENT_TIMEOUT_MS) {
    const { poller, late } = await this.readPolling(timeoutMs);
    return this.database.transaction(async (tx) => {
      await tx.query(`SET LOCAL statement_timeout = ${timeoutMs}`);
      const [queues] = await tx.query<Queues>(sql.READ_QUEUES);
      const [budget] = await tx.query<Omit<Facts['budget'], 'late'>>(sql.READ_BUDGET, [
        this.environment.POLL_MAX_INTERVAL_MS,
      ]);
      const [activity] = await tx.query<Facts['activity']>(sql.READ_ACTIVITY);
      const [oldestTransaction = null] = await tx.query<OldestTransaction>(sql.FIND_OLDEST_TRANSACTION);
      const replicas = await tx.query<Replica>(sql.LIST_REPLICAS);
      /** `waitSeconds`: the rest of the wait that the service requested. 0 if there is none. */
      const operations = await tx.query<Operation & { readonly waitSeconds: number }>(sql.LIST_OPERATIONS);
      const degraded = operations.flatMap(({ waitSeconds: _, ...each }) =>
        each.health === 'healthy' ? [] : [each],
      );
      const { handlers, webhooks, broker, outbox, drift, sessions, brandOutages, registrations, starts } =
        queues!;
      return {
        /** The facts in the response of /status. */
        shared: {
          replicas: replicas.map(({ signs: { recentCalls: _, ...signs }, ...replica }) => ({
            ...replica,
            ...signs,
          })),
          poller,
          budget: { ...budget!, late },
          activity: activity!,
          oldestTransaction,
          sessions,
          brandOutages,
          registrations,
          starts,
        },
        deployment: { degraded, calls: callsOf(replicas), ...drift },
        outbox: { ...outbox, readers: { handlers, webhooks, broker: broker && withDates(broker) } },
        operations,
        pendingWishes: queues!.pendingWishes,
        now: queues!.now,
        stalled: queues!.stalled,
        reasonsSince: datesOf(queues!.reasonsSince),
      };
    });
  }

  /** Reads in a separate transaction, because a lock timeout aborts the transaction. */
  private async readPolling(timeoutMs: number): Promise<Polling> {
    const read = this.database.transaction(async (tx) => {
      await tx.query(
        `SET LOCAL statement_timeout = ${timeoutMs}; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`,
      );
      const [row] = await tx.query<Polling>(sql.READ_POLLING);
      return row!;
    });
    return read.catch((error: unknown) => {
      if (sqlState(error) === LOCK_NOT_AVAILABLE) return { poller: null, late: [] };
      throw error;
    });
  }
}

/** Returns the calls of all live replicas, added up by operation. */
function callsOf(replicas: readonly Replica[]) {
  const live = replicas.filter(({ isAlive }) => isAlive);
  return OPERATION_CLASSES.map((operation) => ({
    operation,
    ...summarise(live.flatMap(({ signs }) => signs.recentCalls[operation] ?? [])),
  }));
}

/** Converts the times that json_object_agg returns as texts. */
const datesOf = (times: Readonly<Record<string, Date>>): Readonly<Partial<Record<string, Date>>> =>
  Object.fromEntries(Object.entries(times).map(([name, time]) => [name, new Date(time)]));

/** Converts the times of the broker, which to_json returns as texts, to dates for the response. */
function withDates(broker: NonNullable<Readers['broker']>): Readers['broker'] {
  const asDate = (time: Date | null) => time && new Date(time);
  return { ...broker, publishedAt: asDate(broker.publishedAt), failingSince: asDate(broker.failingSince) };
}

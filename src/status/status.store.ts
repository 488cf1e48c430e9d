import { Injectable } from '@nestjs/common';
import { Database, sqlState, type Sql } from '../platform/database/database.js';
import * as sql from './status.sql.js';
import type { StatusView } from './status.view.js';

type Outbox = StatusView['outbox'];
type Deployment = StatusView['remote']['deployment'];
type Budget = Omit<StatusView['budget'], 'late'>;

interface Polling {
  readonly poller: NonNullable<StatusView['poller']>;
  readonly late: StatusView['budget']['late'];
}

/** The backlog of the whole deployment, with the fields of the response. `broker` is null if no process has ever used a broker. */
interface Backlog
  extends Pick<StatusView, 'sessions' | 'registrations' | 'starts'>, Omit<Outbox['readers'], 'streams'> {
  readonly outbox: Omit<Outbox, 'readers'>;
}

const LOCK_NOT_AVAILABLE = '55P03';
const LOCK_TIMEOUT_MS = 500;

/** The facts of the metrics: the backlog, and what `GET /status` does not have. */
export interface DeploymentFacts extends Polling, Backlog {
  readonly replicas: StatusView['replicas'];
  readonly budget: Budget;
  /** Null if there is no token. */
  readonly tokenAgeSeconds: number | null;
  /** `waitSeconds`: the rest of the wait that the service requested. 0 if there is none. */
  readonly operations: readonly {
    readonly operation: string;
    readonly health: string;
    readonly waitSeconds: number;
  }[];
  readonly contractDrift: number;
}

@Injectable()
export class StatusStore {
  constructor(private readonly database: Database) {}

  /** Returns null if a table is locked. */
  async readPolling(): Promise<Polling | null> {
    const read = this.database.transaction(async (tx) => {
      await tx.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      const [row] = await tx.query<Polling>(sql.READ_POLLING);
      return row!;
    });
    return read.catch((error: unknown) => {
      if (sqlState(error) === LOCK_NOT_AVAILABLE) return null;
      throw error;
    });
  }

  async readBacklog(connection: Sql = this.database): Promise<Backlog> {
    const [row] = await connection.query<Backlog>(sql.READ_BACKLOG);
    const { broker, ...backlog } = row!;
    // to_json returns times as text, while the response needs dates.
    const asDate = (time: Date | null) => time && new Date(time);
    const { publishedAt = null, failingSince = null } = broker ?? {};
    const times = { publishedAt: asDate(publishedAt), failingSince: asDate(failingSince) };
    return { ...backlog, broker: broker && { ...broker, ...times } };
  }

  /** Reads the facts of the metrics. Throws if a statement takes longer than `timeoutMs`, for example because a table is locked. */
  async readFacts(timeoutMs: number): Promise<DeploymentFacts> {
    return this.database.transaction(async (tx) => {
      await tx.query(`SET LOCAL statement_timeout = ${timeoutMs}`);
      const [polling] = await tx.query<Polling>(sql.READ_POLLING);
      const backlog = { ...polling!, ...(await this.readBacklog(tx)) };
      const replicas = await this.listReplicas(tx);
      const budget = await this.readBudget(tx);
      const [facts] = await tx.query<
        Pick<DeploymentFacts, 'tokenAgeSeconds' | 'operations' | 'contractDrift'>
      >(sql.READ_FACTS);
      return { ...backlog, replicas, budget, ...facts! };
    });
  }

  /** Reads what the watched sessions want, what the remote service allows, and how soon changes are noticed. */
  async readBudget(connection: Sql = this.database): Promise<Budget> {
    const [budget] = await connection.query<Budget>(sql.READ_BUDGET);
    return budget!;
  }

  /** Returns the running processes, and those that died within the last hour. */
  async listReplicas(connection: Sql = this.database): Promise<DeploymentFacts['replicas']> {
    return connection.query(sql.LIST_REPLICAS);
  }

  /** Reads what all replicas together know about the remote service. */
  async readDeployment(): Promise<Deployment> {
    const [degraded, contractDrift] = await Promise.all([
      this.database.prisma.remoteOperation.findMany({
        select: { operation: true, health: true, since: true, reason: true },
        where: { health: { not: 'healthy' } },
        orderBy: { since: 'asc' },
      }),
      this.database.prisma.remoteDrift.count(),
    ]);
    // The CHECKs guarantee these types, but Prisma does not know them.
    return { degraded: degraded as unknown as Deployment['degraded'], contractDrift };
  }
}

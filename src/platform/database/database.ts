import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { Environment } from '../env/environment.js';
import { PrismaClient } from './generated/client.js';
import { withFastTimestamps } from './timestamps.js';

/** A named statement is prepared once per connection. Name every statement that runs often. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Runs one statement and returns its rows; the keys are the column names of the statement. */
export interface Sql {
  query<Row>(statement: string | Statement, values?: readonly unknown[]): Promise<Row[]>;
}

/** Statements run through this commit or roll back together with all others of the same `work`. */
export interface Transaction extends Sql {
  /**
   * Runs `effect` after the commit, outside the transaction; effects run one after the other. Only the shutdown of the process waits for
   * them. Errors are logged and change nothing.
   */
  afterCommit(effect: (sql: Sql) => void | Promise<void>): void;
}

/** Longer waits mean that the pool is exhausted: fail, so that the caller can respond with 503. */
const CONNECTION_WAIT_MS = 5_000;
/** None of our statements is slow by design; one that takes longer waits for a lock or has lost its connection. */
const STATEMENT_TIMEOUT_MS = 15_000;
/** Client-side timeout: an unreachable server cannot enforce its own. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 1_000;
const LOCK_TIMEOUT_MS = 5_000;
/** A transaction never spans a network call, so an idle one is a bug or belongs to a dead process. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const ATTEMPTS = 3;

/**
 * PostgreSQL, through one pool. Prisma owns the schema, the types, and plain reads and writes of rows. Statements that are hot or
 * set-based, or that commit a fact with its event, are SQL run through `query` and `transaction`.
 */
@Injectable()
export class Database implements Sql, OnApplicationShutdown {
  readonly prisma: PrismaClient;
  readonly pool: pg.Pool;
  private readonly effects = new Set<Promise<void>>();
  private readonly logger = new Logger(Database.name);

  constructor(environment: Environment) {
    this.pool = new pg.Pool({
      connectionString: environment.DATABASE_URL,
      max: environment.DATABASE_POOL_SIZE,
      connectionTimeoutMillis: CONNECTION_WAIT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      keepAlive: true,
      application_name: `pv-onboarding ${environment.ROLE}`,
      types: withFastTimestamps,
      ...inUtc,
    });
    this.pool.on('error', (error) => this.logger.warn(`idle database connection lost: ${error.message}`));
    // The pool's handler does not cover checked-out clients. Without its own handler, a client that loses its connection ends the process.
    this.pool.on('connect', (client) => client.on('error', () => {}));
    this.prisma = new PrismaClient({ adapter: new PrismaPg(this.pool), errorFormat: 'minimal' });
  }

  async query<Row>(statement: string | Statement, values: readonly unknown[] = []): Promise<Row[]> {
    return run<Row>(this.pool, statement, values);
  }

  /**
   * Runs `work` in one READ COMMITTED transaction. After a deadlock or serialization failure `work` runs again, so its statements must be
   * its only effects. A network call in it is a bug: it would hold locks for as long as the other side likes.
   */
  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return again(() => this.attempt(work));
  }

  /** Runs one statement as a whole transaction, without the round trips of BEGIN and COMMIT; otherwise like `transaction`. */
  async commit<Row>(
    statement: Statement,
    values: readonly unknown[],
    afterCommit: (sql: Sql) => void | Promise<void>,
  ): Promise<Row[]> {
    const rows = await again(() => this.query<Row>(statement, values));
    this.runEffects([afterCommit]);
    return rows;
  }

  private async attempt<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    const effects: ((sql: Sql) => void | Promise<void>)[] = [];
    let broken: Error | undefined;
    let result: T;
    try {
      await client.query('BEGIN');
      result = await work({
        query: (statement, values = []) => run(client, statement, values),
        afterCommit: (effect) => void effects.push(effect),
      });
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK').catch((rollbackError: Error) => (broken = rollbackError));
      throw error;
    } finally {
      client.release(broken);
    }
    this.runEffects(effects);
    return result;
  }

  private runEffects(effects: readonly ((sql: Sql) => void | Promise<void>)[]): void {
    if (effects.length === 0) return;
    const running = this.runInTurn(effects).finally(() => this.effects.delete(running));
    this.effects.add(running);
  }

  private async runInTurn(effects: readonly ((sql: Sql) => void | Promise<void>)[]): Promise<void> {
    // Callers waiting for the commit resume first: their response is on its way before an effect queries the database.
    await nextTurn();
    for (const effect of effects) {
      try {
        await effect(this);
      } catch (error) {
        this.logger.warn(`after commit: ${String(error)}`);
      }
    }
  }

  // In this hook HTTP has drained; in onModuleDestroy it has not.
  async onApplicationShutdown(): Promise<void> {
    while (this.effects.size > 0) await Promise.all(this.effects);
    await this.prisma.$disconnect();
    await this.pool.end();
  }
}

/**
 * Prisma's adapter drops the offset of instants that it reads. If the database or its role has another time zone, times would be off by
 * that zone's offset, and instants at the edges of the years 1 and 9999 could not be read. Not a startup option, since DATABASE_URL may
 * bring its own. The pool awaits `onConnect`, though its types do not say so.
 */
const inUtc = { onConnect: (client: pg.ClientBase) => client.query(`SET TIME ZONE 'UTC'`) };

async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !isTransient(error)) throw error;
    }
  }
}

async function run<Row>(
  runner: pg.Pool | pg.PoolClient,
  statement: string | Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  const query = typeof statement === 'string' ? { text: statement } : statement;
  const { rows } = await runner.query(query, values as unknown[]);
  return rows as Row[];
}

/** Returns the SQLSTATE of a PostgreSQL error, even if an adapter wrapped the error. */
export function sqlState(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('code' in error && typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code))
    return error.code;
  return 'cause' in error ? sqlState(error.cause) : undefined;
}

const isTransient = (error: unknown): boolean =>
  [SERIALIZATION_FAILURE, DEADLOCK_DETECTED].includes(sqlState(error) ?? '');

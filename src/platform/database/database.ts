import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import pg from 'pg';
import { Environment } from '../env/environment.js';
import { isTracing, traced } from '../tracing/tracing.js';
import { within } from '../async/within.js';
import { STOP_WITHIN_MS } from '../shutdown/limits.js';
import { limited, OUTCOME_RESPONSE_WITHIN_MS, type OUTCOME } from './connection/patience.js';
import { PoolUse } from './connection/pool-use.js';
import { rowsOf } from './counters.js';
import type { PrismaClient } from './generated/client.js';
import { OutcomeWrites } from './outcome-writes.js';
import { PrismaOnPool, type PrismaModels } from './prisma-on-client.js';
import { ReadingClient } from './connection/reading-client.js';
import {
  BEGIN_POOLED,
  CONNECT_WITHIN_MS,
  RESPONSE_WITHIN_MS,
  TIMEOUTS,
  withPooledSettings,
  withSettings,
} from './connection/settings.js';
import { spanNameOf } from './span-name.js';
import { mayBeOutdated, sqlState } from './sql-state.js';
import { withFastTimestamps } from './timestamps.js';
import { TransactionConnection } from './transaction-connection.js';

/** A named statement is prepared once per connection. Name every statement that runs often. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Returns the tag of a statement's text: prepared('users.find')`SELECT …`. */
export const prepared =
  (name: string) =>
  (text: TemplateStringsArray, ...parts: readonly (string | number)[]): Statement => ({
    name,
    text: String.raw({ raw: text }, ...parts),
  });

export interface Sql {
  query<Row>(statement: string | Statement, values?: readonly unknown[]): Promise<Row[]>;
}

/** The statements of one Transaction, in SQL or through Prisma Client, commit or roll back together. */
export interface Transaction extends Sql {
  /** Prisma Client on the connection of `query`. Never catch its errors: after an error, PostgreSQL refuses every further statement. */
  readonly prisma: PrismaModels;
  /** Runs `effect` after the commit; effects run one after the other. Only the shutdown waits for effects. Their errors are logged. */
  afterCommit(effect: Effect): void;
}

type Effect = (database: Database) => void | Promise<void>;

const DISK_FULL = '53100';
/** How long `hasNoSpace` returns true after a DISK_FULL error: several intervals of a health probe. */
const NO_SPACE_FOR_MS = 15_000;

/** The SQLSTATEs of a serialization failure and a deadlock, after which the transaction is retried. */
const TRANSIENT = ['40001', '40P01'];
const ATTEMPTS = 3;

/** Returns SQL that makes the server end an idle transaction after `ms`, so that its locks end about when the client gives up waiting. */
const endWhenIdle = (ms: number): string => `; SET LOCAL idle_in_transaction_session_timeout TO ${ms}`;

const textOf = (statement: string | Statement): string =>
  typeof statement === 'string' ? statement : statement.text;

/** Returns the name of the span of a statement. Computes no name while traces are not exported. */
const nameOf = (text: string): string => (isTracing() ? spanNameOf(text) : '');

/** Use Prisma for rows; SQL for claims, leases by the database's clock, set-based writes, queues and views. One transaction may use both. */
@Injectable()
export class Database implements Sql, OnModuleDestroy, OnApplicationShutdown {
  readonly pool: pg.Pool;
  readonly prisma: PrismaClient;
  readonly use: PoolUse;
  readonly outcomes = new OutcomeWrites();
  /** Replaced in tests. */
  outcomeResponseWithinMs = OUTCOME_RESPONSE_WITHIN_MS;
  /** The pool for `queryAside`. Opens its one connection only while all of `pool` are in use, and closes it after 10 s without use. */
  private readonly aside: pg.Pool;
  private readonly prismaOnPool: PrismaOnPool;
  private readonly begin: string;
  private readonly prepares: boolean;
  private fullAt = -Infinity;
  private readonly effects = new Set<Promise<void>>();
  private readonly logger = new Logger(Database.name);
  private observe: (seconds: number) => void = () => {};

  constructor(environment: Environment) {
    const isPooled = environment.DATABASE_DIRECT_URL !== environment.DATABASE_URL;
    this.begin = isPooled ? BEGIN_POOLED : 'BEGIN';
    this.prepares = environment.DATABASE_PREPARED_STATEMENTS;
    const options = {
      Client: ReadingClient,
      connectionString: environment.DATABASE_URL,
      max: environment.DATABASE_POOL_SIZE,
      // A longer wait means that the pool is exhausted: the query fails, and the client gets a 503.
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      query_timeout: RESPONSE_WITHIN_MS,
      keepAlive: true,
      application_name: `pv-onboarding ${environment.ROLE}`,
      types: withFastTimestamps,
      ...(isPooled ? withPooledSettings : withSettings(TIMEOUTS)),
    };
    this.pool = new pg.Pool(options);
    this.aside = new pg.Pool({ ...options, max: 1 });
    this.use = new PoolUse(this.pool);
    for (const pool of [this.pool, this.aside]) {
      pool.on('error', (error) => this.logger.warn(`idle database connection lost: ${error.message}`));
      // The pool's handler does not cover clients in use. Without its own handler, a client that loses its connection ends the process.
      pool.on('connect', (client) => client.on('error', () => {}));
    }
    this.prismaOnPool = new PrismaOnPool(this.pool, (text, run) => this.timed(nameOf(text), run));
    this.prisma = this.prismaOnPool.prisma;
  }

  /** Calls `observe` with the duration of each statement, also of Prisma. Outside a transaction, includes the wait for a connection. */
  measure(observe: (seconds: number) => void): void {
    this.observe = observe;
  }

  /** Returns whether a statement failed recently because the server has no space left. Only a write that needs space detects this. */
  hasNoSpace(): boolean {
    return performance.now() - this.fullAt < NO_SPACE_FOR_MS;
  }

  /** Returns the time by which leases and due times count. The clock of this process may be minutes off. */
  async now(): Promise<Date> {
    const [clock] = await this.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    return clock!.now;
  }

  async query<Row>(
    statement: string | Statement,
    values: readonly unknown[] = [],
    patience?: typeof OUTCOME,
  ): Promise<Row[]> {
    // If the statement fails or times out, pg-pool closes the connection, so that no later statement gets a silent one.
    return this.runOrReplan<Row>(this.pool, statement, values, this.limitOf(patience));
  }

  /** Like `query`, but does not wait while all connections of the pool are in use. For short statements, such as the sign of life. */
  async queryAside<Row>(statement: string | Statement, values: readonly unknown[] = []): Promise<Row[]> {
    return this.runOrReplan<Row>(this.use.isFull ? this.aside : this.pool, statement, values);
  }

  /**
   * Runs `work` in a READ COMMITTED transaction. Retries it after a deadlock or serialization failure, and without names after an error of
   * an outdated statement. So `work` must have no other effects than its statements. It must not make a network call, which would prolong
   * its locks.
   */
  async transaction<T>(work: (tx: Transaction) => Promise<T>, patience?: typeof OUTCOME): Promise<T> {
    let { prepares } = this;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.attempt(work, this.limitOf(patience), prepares);
      } catch (error) {
        const isOutdated = prepares && mayBeOutdated(error);
        if (attempt === ATTEMPTS || !(isOutdated || TRANSIENT.includes(sqlState(error) ?? ''))) throw error;
        if (isOutdated) prepares = false;
      }
    }
  }

  private limitOf(patience: typeof OUTCOME | undefined): number | undefined {
    return patience ? this.outcomeResponseWithinMs : undefined;
  }

  private async attempt<T>(
    work: (tx: Transaction) => Promise<T>,
    limitMs: number | undefined,
    prepares: boolean,
  ): Promise<T> {
    const client = await this.pool.connect().catch((error: unknown) => {
      this.note(error);
      throw error;
    });
    const connection = new TransactionConnection(client, limitMs);
    const onClient = this.prismaOnPool.onClient(connection);
    const effects: Effect[] = [];
    let result: T;
    try {
      await connection.query({ text: this.begin + (limitMs === undefined ? '' : endWhenIdle(limitMs)) });
      result = await work({
        prisma: onClient.prisma,
        query: (statement, values = []) =>
          this.run(connection, prepares ? statement : textOf(statement), values),
        afterCommit: (effect) => void effects.push(effect),
      });
      await this.timed('COMMIT', () => connection.query({ text: 'COMMIT' }));
      connection.release();
    } catch (error) {
      this.note(error);
      await connection.rollBack(this.outcomeResponseWithinMs);
      throw error;
    } finally {
      onClient.end();
    }
    if (effects.length > 0) {
      const running = this.runEffects(effects).finally(() => this.effects.delete(running));
      this.effects.add(running);
    }
    return result;
  }

  /** Runs a statement, and once more without its name if the prepared statement is outdated. */
  private runOrReplan<Row>(
    pool: pg.Pool,
    statement: string | Statement,
    values: readonly unknown[],
    limitMs?: number,
  ): Promise<Row[]> {
    return this.run<Row>(pool, statement, values, limitMs).catch((error: unknown) => {
      if (typeof statement === 'string' || !this.prepares || !mayBeOutdated(error)) throw error;
      return this.run<Row>(pool, statement.text, values, limitMs);
    });
  }

  private async run<Row>(
    runner: pg.Pool | TransactionConnection,
    statement: string | Statement,
    values: readonly unknown[],
    limitMs?: number,
  ): Promise<Row[]> {
    const { name, text } = typeof statement === 'string' ? { name: undefined, text: statement } : statement;
    const query = limited(this.prepares ? { name, text } : { text }, limitMs);
    const send = (): Promise<pg.QueryResult> => runner.query(query, values as unknown[]);
    try {
      return rowsOf(await this.timed(name ?? nameOf(text), send)) as Row[];
    } catch (error) {
      this.note(error);
      throw error;
    }
  }

  private async timed<T>(name: string, run: () => Promise<T>): Promise<T> {
    const beganAt = performance.now();
    try {
      return await traced({ name, kind: 'client', attributes: { 'db.system.name': 'postgresql' } }, run);
    } finally {
      this.observe((performance.now() - beganAt) / 1_000);
    }
  }

  private note(error: unknown): void {
    if (sqlState(error) === DISK_FULL) this.fullAt = performance.now();
  }

  private async runEffects(effects: readonly Effect[]): Promise<void> {
    // Lets callers that await the commit resume first, so that they respond before an effect queries the database.
    await nextTurn();
    for (const effect of effects) {
      try {
        await effect(this);
      } catch (error) {
        this.logger.warn(`an action after a commit failed: ${String(error)}`);
      }
    }
  }

  // Ends the patience before requests and tasks must have ended, so that time is left to record a failed write and to respond.
  onModuleDestroy(): void {
    this.outcomes.endPatienceIn(STOP_WITHIN_MS.patience);
  }

  // Closes the pool in this hook, not in onModuleDestroy, which Nest calls while HTTP requests are still in flight.
  async onApplicationShutdown(): Promise<void> {
    await within(STOP_WITHIN_MS.outcomes, this.outcomes.close());
    while (this.effects.size > 0) await Promise.all(this.effects);
    await this.prisma.$disconnect();
    await Promise.all([this.pool.end(), this.aside.end()]);
  }
}

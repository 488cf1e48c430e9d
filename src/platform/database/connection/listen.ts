import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { Loop } from '../../async/loop.js';
import { Environment } from '../../env/environment.js';
import { STOP_WITHIN_MS } from '../../shutdown/limits.js';
import { isCopy } from '../deployment.store.js';
import { sqlState } from '../sql-state.js';
import { ReadingClient } from './reading-client.js';
import { withSettings } from './settings.js';

const RECONNECT_MS = 500;
/** The interval of heartbeats. They detect within 2.5 s a dead server, or a pooler that has switched to a connection without LISTEN. */
const HEARTBEAT_MS = 1_000;
/** If `ask` got a response at most this long ago, no heartbeat is sent. */
const QUESTION_SERVES_MS = 1_500;
const HEARTBEAT =
  'SELECT (SELECT count(*)::int FROM pg_listening_channels() AS channel WHERE channel = ANY ($1)) AS channels';
const RESPONSE_WITHIN_MS = 1_500;
/** How often to check whether the database is a copy, besides after every connect. */
const CHECK_HOME_MS = 30_000;
const SETTINGS = withSettings({
  // A question that waits for a lock fails before it is late, so that it does not seem lost.
  lock_timeout: 1_000,
  // Otherwise PostgreSQL plans each question again: with the value known, it skips what is not asked, and estimates that this costs less.
  plan_cache_mode: 'force_generic_plan',
});

/** A question is a select list, in which $2 is `value`. */
interface Question {
  readonly name: string;
  readonly columns: string;
  readonly value: unknown;
}

/** Listens to NOTIFY, on one connection for all channels of this process. */
@Injectable()
export class Listener implements OnApplicationShutdown {
  private readonly logger = new Logger('Listen');
  private readonly hints = new Map<string, () => void>();
  private client: pg.Client | undefined;
  private lose: (error: unknown) => void = () => {};
  /** When a question was last answered, by performance.now(). */
  private answeredAt = -Infinity;
  private isLost = false;
  private listens = false;
  private onCopy: (() => void) | undefined;
  private readonly loop = new Loop({
    step: (stop) => this.listen(stop),
    onError: (error) => {
      if (!this.isLost)
        this.logger.warn(`no notifications arrive until it reconnects: ${(error as Error).message}`);
      this.isLost = true;
      return RECONNECT_MS;
    },
  });

  constructor(private readonly environment: Environment) {}

  /**
   * Calls `hint` at every NOTIFY on the channel, once the connection is lost, and after every (re)connect, since notifications are lost
   * while disconnected. Callers must also read the data periodically, since a lost connection is detected late.
   */
  on(channel: string, hint: () => void): void {
    this.hints.set(channel, hint);
    if (this.hints.size === 1) this.loop.start();
    // If LISTEN fails, the heartbeat detects it.
    else if (this.client !== undefined) void this.client.query(listenTo(channel)).then(hint, () => {});
  }

  /** Calls `onCopy` when a copy has taken the place of the database, such as a restored backup. */
  watchHome(onCopy: () => void): void {
    this.onCopy = onCopy;
  }

  /** Whether notifications arrive, as of the last heartbeat. */
  get isListening(): boolean {
    return this.listens;
  }

  /** Asks a question in the place of the next heartbeat. Returns null while no notifications arrive. */
  async ask<Answer>({ name, columns, value }: Question): Promise<Answer | null> {
    if (this.client === undefined || !this.listens) return null;
    const prepared = this.environment.DATABASE_PREPARED_STATEMENTS ? { name } : {};
    const query = { ...prepared, text: `${HEARTBEAT}, ${columns}` };
    try {
      const answer = await this.beat<Answer>(this.client, query, [value]);
      this.answeredAt = performance.now();
      return answer;
    } catch (error) {
      // A server that reports an error is there.
      if (sqlState(error) === undefined) this.lose(error);
      throw error;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop(STOP_WITHIN_MS.listener);
  }

  private hintAll(): void {
    for (const hint of this.hints.values()) hint();
  }

  /** Listens on one connection; rejects when it is lost or `stop` aborts. */
  private async listen(stop: AbortSignal): Promise<never> {
    const client: pg.Client = new ReadingClient({
      connectionString: this.environment.DATABASE_DIRECT_URL,
      connectionTimeoutMillis: 5_000,
      query_timeout: RESPONSE_WITHIN_MS,
      keepAlive: true,
      application_name: 'pv-onboarding listen',
    });
    const done = new AbortController();
    const loss = new Promise<never>((_, reject) => {
      this.lose = reject;
      client.on('error', reject).on('end', () => reject(new Error('the server closed the connection')));
      stop.addEventListener('abort', () => reject(new Error('stopped')), { signal: done.signal });
    });
    client.on('notification', ({ channel }) => this.hints.get(channel)?.());
    try {
      return await Promise.race([this.watch(client, stop), loss]);
    } finally {
      this.client = undefined;
      done.abort();
      const hasListened = this.listens;
      this.listens = false;
      if (hasListened && !stop.aborted) this.hintAll();
      // Only a stop awaits `end`, since on a lost connection `end` may never resolve. A pending query does not delay a stop: `end` then
      // destroys the socket at once.
      const ended = client.end().catch(() => {});
      if (stop.aborted) await ended;
    }
  }

  private async watch(client: pg.Client, stop: AbortSignal): Promise<never> {
    await client.connect();
    this.client = client;
    await SETTINGS.onConnect(client);
    for (const channel of this.hints.keys()) await client.query(listenTo(channel));
    this.isLost = false;
    this.listens = true;
    this.hintAll();
    for (let checkAt = 0; ;) {
      if (this.onCopy !== undefined && performance.now() >= checkAt) {
        const isCopy = await findCopy(client);
        if (isCopy !== undefined) checkAt = performance.now() + CHECK_HOME_MS;
        if (isCopy === true) this.onCopy();
      }
      await sleep(HEARTBEAT_MS, undefined, { signal: stop });
      if (performance.now() - this.answeredAt > QUESTION_SERVES_MS)
        await this.beat(client, { text: HEARTBEAT });
    }
  }

  // The heartbeat is not a NOTIFY, which could wait for the lock of a stalled commit.
  private async beat<Answer>(client: pg.Client, query: pg.QueryConfig, values: readonly unknown[] = []) {
    const channels = [...this.hints.keys()];
    const { rows } = await client.query<Answer & { channels: number }>(query, [channels, ...values]);
    if (rows[0]!.channels !== channels.length)
      throw new Error('a pooler has switched to a connection that does not listen');
    return rows[0]!;
  }
}

/** Returns undefined if nothing can be read, as while a dump is being restored. */
async function findCopy(client: pg.Client): Promise<boolean | undefined> {
  const query = async <Row>(text: string) => (await client.query(text)).rows as Row[];
  try {
    return await isCopy({ query });
  } catch (error) {
    if (sqlState(error) === undefined) throw error;
    return undefined;
  }
}

const listenTo = (channel: string): string => `LISTEN ${pg.escapeIdentifier(channel)}`;

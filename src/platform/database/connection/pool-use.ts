import type pg from 'pg';
import { spanNameOf } from '../span-name.js';

/** The message of pg-pool if no connection became free in time. If a server does not respond, the message is another. */
const USED_UP = 'timeout exceeded when trying to connect';

/** Returns whether the reason of an error is that all connections of the pool were in use. */
export const isUsedUp = (error: unknown): error is Error =>
  error instanceof Error && error.message.startsWith(USED_UP);

/** Measures how long the connections of a pool are in use. */
export class PoolUse {
  private readonly inUse = new Map<pg.PoolClient, number>();
  private waitingSince: number | undefined;

  constructor(private readonly pool: pg.Pool) {
    pool.on('acquire', (client) => this.inUse.set(client, performance.now()));
    pool.on('release', (_, client) => this.inUse.delete(client));
    pool.on('remove', (client) => this.inUse.delete(client));
  }

  get isFull(): boolean {
    return (
      this.pool.waitingCount > 0 || (this.pool.idleCount === 0 && this.inUse.size >= this.pool.options.max)
    );
  }

  /**
   * Returns for how many seconds statements have been waiting for a connection, counted from the first call that found a wait. Returns 0 if
   * no statement waits.
   */
  waitingSeconds(): number {
    if (this.pool.waitingCount === 0) this.waitingSince = undefined;
    else this.waitingSince ??= performance.now();
    return this.waitingSince === undefined ? 0 : (performance.now() - this.waitingSince) / 1_000;
  }

  /** Returns a description, for people, of the longest use of a connection. It contains no values. Null if no connection is in use. */
  longest(): string | null {
    const [first] = [...this.inUse].sort(([, a], [, b]) => a - b);
    if (first === undefined) return null;
    const [client, since] = first;
    // `_activeQuery` is null between two statements of a transaction.
    const { _activeQuery: active } = client as unknown as { _activeQuery?: { text?: string } | null };
    const text = active?.text;
    return `${text === undefined ? 'a transaction' : spanNameOf(text)}, for ${((performance.now() - since) / 1_000).toFixed(1)} s`;
  }
}

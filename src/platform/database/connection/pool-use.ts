import type pg from 'pg';
import { spanNameOf } from '../span-name.js';

/** The error of pg-pool after a wait for a connection that became too long. Not that of a server that does not respond. */
const USED_UP = 'timeout exceeded when trying to connect';

/** Returns whether an error says that all connections of the pool were in use. */
export const isUsedUp = (error: unknown): error is Error =>
  error instanceof Error && error.message.startsWith(USED_UP);

/** Watches who uses the connections of a pool. */
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

  /** Returns for how long statements have waited for connections, as of the calls of this method; 0 if none waits. */
  waitingSeconds(): number {
    if (this.pool.waitingCount === 0) this.waitingSince = undefined;
    else this.waitingSince ??= performance.now();
    return this.waitingSince === undefined ? 0 : (performance.now() - this.waitingSince) / 1_000;
  }

  /** Returns, for people, which connection has been in use longest and for what. Contains no value. Null if none is in use. */
  longest(): string | null {
    const [first] = [...this.inUse].sort(([, a], [, b]) => a - b);
    if (first === undefined) return null;
    const [client, since] = first;
    // Null between two statements of a transaction.
    const { _activeQuery: active } = client as unknown as { _activeQuery?: { text?: string } | null };
    const text = active?.text;
    return `${text === undefined ? 'a transaction' : spanNameOf(text)}, for ${((performance.now() - since) / 1_000).toFixed(1)} s`;
  }
}

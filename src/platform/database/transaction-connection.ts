import type pg from 'pg';
import { limited } from './connection/patience.js';

/** Returns whether a response did not arrive in time. The statement may have been executed nevertheless. */
const isReadTimeout = (error: unknown): boolean =>
  error instanceof Error && error.message === 'Query read timeout';

/** A connection of the pool during one transaction. */
export class TransactionConnection {
  private isSilent = false;
  private hasFailed = false;

  /** `responseWithinMs`: how long to wait for each response. Default: that of the pool. */
  constructor(
    protected readonly client: pg.PoolClient,
    private readonly responseWithinMs?: number,
  ) {}

  async query(query: pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult<pg.QueryResultRow>> {
    try {
      return await this.client.query(limited(query, this.responseWithinMs), values);
    } catch (error) {
      this.hasFailed = true;
      this.isSilent ||= isReadTimeout(error);
      throw error;
    }
  }

  release(): void {
    this.client.release();
  }

  /**
   * Rolls back. Closes the connection if a statement has failed, since the fault may be that of the connection, such as an outdated prepared
   * statement; otherwise returns it to the pool. If the connection has not responded, only closes it: a ROLLBACK would wait for the missing
   * response. The server rolls back when it notices the closed connection, or after its idle timeout.
   */
  async rollBack(withinMs: number): Promise<void> {
    if (this.isSilent) return this.client.release(true);
    const noteFailed = () => (this.hasFailed = true);
    await this.client.query(limited({ text: 'ROLLBACK' }, withinMs)).catch(noteFailed);
    this.client.release(this.hasFailed);
  }
}

import type pg from 'pg';
import { limited } from './connection/patience.js';

/** A connection of the pool during one transaction. */
export class TransactionConnection {
  private hasFailed = false;

  /** `responseWithinMs`: how long to wait for each response. Default: that of the pool. */
  constructor(
    private readonly client: pg.PoolClient,
    private readonly responseWithinMs?: number,
  ) {}

  async query(query: pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult<pg.QueryResultRow>> {
    try {
      return await this.client.query(limited(query, this.responseWithinMs), values);
    } catch (error) {
      this.hasFailed = true;
      throw error;
    }
  }

  release(): void {
    this.client.release();
  }

  /**
   * Rolls back. Closes the connection if a statement has failed, since the fault may be that of the connection, such as an outdated prepared
   * statement; otherwise returns it to the pool. A connection that has not responded in time is closed already (see ReadingClient), and the
   * server rolls back when it notices this, or after its idle timeout.
   */
  async rollBack(withinMs: number): Promise<void> {
    const noteFailed = () => (this.hasFailed = true);
    await this.client.query(limited({ text: 'ROLLBACK' }, withinMs)).catch(noteFailed);
    this.client.release(this.hasFailed);
  }
}

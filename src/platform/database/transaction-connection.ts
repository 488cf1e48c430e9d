import type pg from 'pg';
import { limited } from './connection/patience.js';

/** The error of a statement whose response did not arrive in time. It says nothing about the effect of the statement. */
const isReadTimeout = (error: unknown): boolean =>
  error instanceof Error && error.message === 'Query read timeout';

/** A connection of the pool during one transaction. */
export class TransactionConnection {
  private isSilent = false;

  /** `responseWithinMs`: how long to wait for each response. Default: that of the pool. */
  constructor(
    protected readonly client: pg.PoolClient,
    private readonly responseWithinMs?: number,
  ) {}

  async query(query: pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult<pg.QueryResultRow>> {
    try {
      return await this.client.query(limited(query, this.responseWithinMs), values);
    } catch (error) {
      this.isSilent ||= isReadTimeout(error);
      throw error;
    }
  }

  release(): void {
    this.client.release();
  }

  /**
   * Rolls back, and returns the connection to the pool. If the connection has not responded, closes it instead: a ROLLBACK would wait for the
   * response that has not arrived. The server then rolls back when it notices the end of the connection, or its idle timeout.
   */
  async rollBack(withinMs: number): Promise<void> {
    if (this.isSilent) return this.client.release(true);
    let broken: Error | undefined;
    const noteBroken = (error: Error) => (broken = error);
    await this.client.query(limited({ text: 'ROLLBACK' }, withinMs)).catch(noteBroken);
    this.client.release(broken);
  }
}

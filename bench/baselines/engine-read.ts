import { hash } from 'node:crypto';
import type pg from 'pg';
import { Pool } from 'undici';
import { sessionId } from '../harness/sessions.js';

/** A poll as a job: which session, and what it answered last, so that an answer that did not change costs no look at its row. */
export interface PollJob {
  readonly id: string;
  readonly lastHash: string;
}

export const NEXT_READ_MS = 3_600_000;
/** Jobs there are; a benchmark that has all of them run makes them due itself. */
export const JOBS = 3_000;

export const firstJobs = (): PollJob[] =>
  Array.from({ length: JOBS }, (_, index) => ({ id: sessionId(index), lastHash: '' }));

/**
 * What a job of an engine does, at its cheapest: bare undici, a row written only when the answer changed. No lease beside the engine's
 * own, no answer kept, no history, no event.
 */
export function engineReader(remoteUrl: string, database: pg.Pool, concurrency: number) {
  const http = new Pool(remoteUrl, { connections: concurrency, pipelining: 1 });
  const headers = { ApiKey: 'bench', authorization: 'Bearer benchmark', accept: 'application/json' };

  return async ({ id, lastHash }: PollJob): Promise<PollJob> => {
    const { body } = await http.request({
      path: `/api/v1/ssa/onboarding/pv/${id}`,
      method: 'GET',
      headers,
    });
    const text = await body.text();
    const newHash = hash('sha1', text);
    if (newHash !== lastHash) {
      const { finished, active, expired, updatedAt } = JSON.parse(text) as Record<string, unknown>;
      await database.query({
        name: 'changed',
        text: `UPDATE onboarding_sessions SET finished = $2, active = $3, expired = $4, updated_at = $5,
                 state = CASE WHEN $2 THEN 'online' ELSE state END WHERE id = $1`,
        values: [id, finished, active, expired, updatedAt],
      });
    }
    return { id, lastHash: newHash };
  };
}

/** Tells when so many jobs are done. */
export class Countdown {
  private left = 0;
  private done: () => void = () => {};

  of(count: number): Promise<void> {
    this.left = count;
    return new Promise((resolve) => (this.done = resolve));
  }

  step(): void {
    if (--this.left === 0) this.done();
  }
}

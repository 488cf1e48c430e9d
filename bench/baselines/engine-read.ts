import { hash } from 'node:crypto';
import type pg from 'pg';
import { Pool } from 'undici';
import { sessionId } from '../harness/sessions.js';

/** A poll as a job. `lastHash` is the hash of the last response: if the response is unchanged, the job needs no query. */
export interface PollJob {
  readonly id: string;
  readonly lastHash: string;
}

export const NEXT_READ_MS = 3_600_000;
/** The number of jobs in one repetition of the measurement. */
export const JOBS = 3_000;

export const firstJobs = (): PollJob[] =>
  Array.from({ length: JOBS }, (_, index) => ({ id: sessionId(index), lastHash: '' }));

/** Returns a job that polls as cheaply as possible: with bare undici, and with an UPDATE only if the response changed. */
export function engineReader(remoteUrl: string, database: pg.Pool, concurrency: number) {
  const http = new Pool(remoteUrl, { connections: concurrency, pipelining: 1 });
  const headers = { ApiKey: 'bench', authorization: 'Bearer benchmark', accept: 'application/json' };

  return async ({ id, lastHash }: PollJob): Promise<PollJob> => {
    const { body } = await http.request({ path: `/api/v1/ssa/onboarding/pv/${id}`, method: 'GET', headers });
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

import { expect } from '@jest/globals';
import type { Database } from '../../../src/platform/database/database.js';
import type { SandboxControl } from '../../setup/sandbox-control.js';
import { waitFor } from '../../setup/wait-for.js';
import { promise } from './promise.js';
import { seedSessions } from './seeded-sessions.js';

/** Longer than a test takes, so that no session is read a second time in it. */
export const INTERVAL_MS = 600_000;

/** Sessions that have been due for up to an hour, each a little longer than the next; their ids, the longest due first. */
export async function seedOverdue(
  database: Database,
  control: SandboxControl,
  count: number,
): Promise<string[]> {
  await seedSessions(database, control, count);
  const rows = await database.query<{ id: string }>(
    `WITH shuffled AS (SELECT session_id, row_number() OVER (ORDER BY random()) AS nth FROM session_polls),
          moved AS (
            UPDATE session_polls p SET due_at = clock_timestamp() - interval '1 hour' + nth * interval '1 hour' / $1::int
              FROM shuffled WHERE shuffled.session_id = p.session_id RETURNING p.session_id, nth)
     SELECT session_id AS id FROM moved ORDER BY nth`,
    [count],
  );
  await database.query('ANALYZE session_polls');
  return rows.map(({ id }) => id);
}

export interface Rush {
  readonly maxInFlight: number;
  /** Of the order in which sessions were due and the order in which they were read; 1 when they are the same. */
  readonly rankCorrelation: number;
  /** The most sessions that are due again in any tenth of the time in which they could be, as a share; 0.1 when they are spread evenly. */
  readonly largestTenth: number;
}

/** Waits until all of them have been read once, and says what it was like. */
export async function measureRush(
  database: Database,
  control: SandboxControl,
  dueOrder: readonly string[],
  withinMs: number,
): Promise<Rush> {
  const ledger = await waitFor(
    'every session was read',
    async () => {
      const now = await control.ledger();
      return Object.keys(now.reads).length === dueOrder.length && now.inFlight === 0 && now;
    },
    withinMs,
  );
  // The ledger lists sessions in the order of their first read.
  const readOrder = Object.keys(ledger.reads);
  return {
    maxInFlight: ledger.maxInFlight,
    rankCorrelation: correlateRanks(dueOrder, readOrder),
    largestTenth: await findLargestTenth(database),
  };
}

/** R27, of so many sessions that replicas began together to read. */
export function expectNoStampede(rush: Rush, sessions: number, replicas: number, limit: number): void {
  const { maxInFlight, rankCorrelation, largestTenth } = rush;
  promise('R27', {
    figure:
      `${sessions} overdue, ${replicas} replicas: at most ${maxInFlight} in flight, rank correlation ` +
      `${rankCorrelation.toFixed(3)}, ${(100 * largestTenth).toFixed(0)} % due again in the same tenth`,
    bound: `${replicas * limit} in flight, correlation 0.95, 20 %`,
  });
  expect(maxInFlight).toBeLessThanOrEqual(replicas * limit);
  expect(rankCorrelation).toBeGreaterThan(0.95);
  expect(largestTenth).toBeLessThan(0.2);
}

/** Spearman's coefficient of two orders of the same ids. */
function correlateRanks(first: readonly string[], second: readonly string[]): number {
  const rankOf = new Map(second.map((id, rank) => [id, rank]));
  const squares = first.reduce((sum, id, rank) => sum + (rank - rankOf.get(id)!) ** 2, 0);
  const count = first.length;
  return 1 - (6 * squares) / (count * (count ** 2 - 1));
}

/** Intervals are from INTERVAL_MS to a tenth more. */
async function findLargestTenth(database: Database): Promise<number> {
  const [row] = await database.query<{ share: number }>(
    `SELECT max(sessions) / sum(sessions)::float8 AS share
       FROM (SELECT count(*)::float8 AS sessions FROM session_polls
              GROUP BY width_bucket(extract(epoch FROM due_at - claimed_at) * 1000, $1::float8, $1::float8 * 1.1, 10)) AS tenths`,
    [INTERVAL_MS],
  );
  return row!.share;
}

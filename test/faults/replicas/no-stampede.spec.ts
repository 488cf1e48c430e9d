import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { PollsStore } from '../../../src/onboarding/poll/polls.store.js';
import { SELECT_DUE } from '../../../src/onboarding/poll/polls.sql.js';
import { Database } from '../../../src/platform/database/database.js';
import { CallQueue } from '../../../src/remote/pace/call-queue.js';
import { Remote } from '../../../src/remote/remote.service.js';
import { changeStatement } from '../support/changed-statement.js';
import { gatePolling, type PollingGate } from '../support/polling-gate.js';
import { itAtLength, measureUntil, promise } from '../support/promise.js';
import { startReplicas, type Replicas } from '../support/replicas.js';
import { seedSessions } from '../support/seeded-sessions.js';
import type { SandboxControl } from '../../setup/sandbox/sandbox-control.js';
import { waitFor } from '../../setup/wait-for.js';

const REPLICAS = 3;
const SESSIONS = 1_000;
const LIMIT = 12;
const LATENCY_MS = 20;
/** The interval of the sessions: longer than a test takes, so that no session is read twice. */
const INTERVAL_MS = 600_000;

let replicas: Replicas | undefined;
afterEach(close);

async function close() {
  jest.restoreAllMocks();
  await replicas?.close();
  replicas = undefined;
}

/** Starts replicas, calls `begin`, and lets all replicas poll overdue sessions from the same moment. */
async function rush(mutate: (app: NestFastifyApplication) => void = () => {}, begin = () => {}) {
  await close();
  const gates: PollingGate[] = [];
  replicas = await startReplicas({
    count: REPLICAS,
    environment: {
      POLL_MIN_INTERVAL_MS: INTERVAL_MS,
      POLL_MAX_INTERVAL_MS: 2 * INTERVAL_MS,
      SCS_MAX_CONCURRENCY: LIMIT,
    },
    prepare: (app) => {
      mutate(app);
      gates.push(gatePolling(app));
    },
  });
  const { control } = replicas.sandbox;
  const database = replicas.apps[0]!.database;
  const dueOrder = await seedOverdue(database, control, SESSIONS);
  await control.change({ latencyMs: LATENCY_MS });
  begin();
  for (const gate of gates) gate.open();
  return measureRush(database, control, dueOrder);
}

/** Seeds sessions overdue by up to an hour. Returns their ids, the longest overdue first. */
async function seedOverdue(database: Database, control: SandboxControl, count: number) {
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

interface Rush {
  readonly maxInFlight: number;
  /** The rank correlation of the order of due times and the order of reads. It is 1 if the orders are equal. */
  readonly rankCorrelation: number;
  /** The share of sessions in the fullest of ten equal ranges of intervals. 0.1 if all ranges have the same number of sessions. */
  readonly largestTenth: number;
}

/** Waits until each session has been read once. Returns the figures. */
async function measureRush(
  database: Database,
  control: SandboxControl,
  dueOrder: readonly string[],
): Promise<Rush> {
  const ledger = await waitFor('every session was read', async () => {
    const now = await control.ledger();
    return Object.keys(now.reads).length === dueOrder.length && now.inFlight === 0 && now;
  });
  // The ledger lists sessions in the order of their first read.
  const readOrder = Object.keys(ledger.reads);
  return {
    maxInFlight: ledger.maxInFlight,
    rankCorrelation: correlateRanks(dueOrder, readOrder),
    largestTenth: await findLargestTenth(database),
  };
}

function expectNoStampede(rush: Rush, sessions: number, replicas: number, limit: number): void {
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

/** Returns Spearman's rank correlation of two orders of the same ids. */
function correlateRanks(first: readonly string[], second: readonly string[]): number {
  const rankOf = new Map(second.map((id, rank) => [id, rank]));
  const squares = first.reduce((sum, id, rank) => sum + (rank - rankOf.get(id)!) ** 2, 0);
  const count = first.length;
  return 1 - (6 * squares) / (count * (count ** 2 - 1));
}

/** Returns the largest share of sessions in one tenth of the possible intervals (INTERVAL_MS to 1.1 × INTERVAL_MS). */
async function findLargestTenth(database: Database): Promise<number> {
  const [row] = await database.query<{ share: number }>(
    `SELECT max(sessions) / sum(sessions)::float8 AS share
       FROM (SELECT count(*)::float8 AS sessions FROM session_polls
              GROUP BY width_bucket(extract(epoch FROM due_at - claimed_at) * 1000, $1::float8, $1::float8 * 1.1, 10)) AS tenths`,
    [INTERVAL_MS],
  );
  return row!.share;
}

describe('R27: no stampede', () => {
  it('when replicas begin together: the longest due first, no more at once than they may, spread afterwards', async () => {
    expectNoStampede(await rush(), SESSIONS, REPLICAS, LIMIT);
  });

  itAtLength(
    'turns red when each replica reads everything at its start, in any order, and again at the same time',
    async () => {
      const allAtOnce = () => {
        jest.spyOn(CallQueue.prototype, 'turn').mockResolvedValue('granted');
        jest.spyOn(Remote.prototype, 'liveLimit', 'get').mockReturnValue(Infinity);
        jest.spyOn(Math, 'random').mockReturnValue(0);
      };
      const mutate = (app: NestFastifyApplication) => {
        changeStatement(app, SELECT_DUE, 'ORDER BY p.part, p.due_at', 'ORDER BY random()');
        const polls = app.get(PollsStore);
        const claimDue = polls.claimDue.bind(polls);
        polls.claimDue = () => claimDue(SESSIONS);
      };
      const { maxInFlight, rankCorrelation, largestTenth } = await measureUntil(
        (figure) => figure.largestTenth > 0.9,
        () => rush(mutate, allAtOnce),
      );
      expect(maxInFlight).toBeGreaterThan(REPLICAS * LIMIT);
      expect(rankCorrelation).toBeLessThan(0.9);
      expect(largestTenth).toBeGreaterThan(0.9);
    },
  );
});

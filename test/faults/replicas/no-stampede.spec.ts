import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { PollsStore } from '../../../src/onboarding/poll/polls.store.js';
import { SELECT_DUE } from '../../../src/onboarding/poll/polls.sql.js';
import { Database } from '../../../src/platform/database/database.js';
import { CallQueue } from '../../../src/remote/pace/call-queue.js';
import { Remote } from '../../../src/remote/remote.service.js';
import { changeStatement } from '../support/changed-statement.js';
import { expectNoStampede, INTERVAL_MS, measureRush, seedOverdue } from '../support/overdue-sessions.js';
import { gatePolling, type PollingGate } from '../support/polling-gate.js';
import { itAtLength, measureUntil } from '../support/promise.js';
import { startReplicas, type Replicas } from '../support/replicas.js';

const REPLICAS = 3;
const SESSIONS = 1_000;
const LIMIT = 12;
const LATENCY_MS = 20;

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
  const database = replicas.apps[0]!.app.get(Database);
  const dueOrder = await seedOverdue(database, control, SESSIONS);
  await control.change({ latencyMs: LATENCY_MS });
  begin();
  for (const gate of gates) gate.open();
  return measureRush(database, control, dueOrder, 40_000);
}

// no-stampede.long.spec.ts runs the same test with processes and ten times as many sessions.
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

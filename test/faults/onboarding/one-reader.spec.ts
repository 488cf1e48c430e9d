import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { CLAIM, SELECT_DUE } from '../../../src/onboarding/poll/polls.sql.js';
import { Database } from '../../../src/platform/database/database.js';
import type { SandboxLedger } from '../../setup/sandbox-control.js';
import { waitFor } from '../../setup/wait-for.js';
import { changeStatement } from '../support/changed-statement.js';
import { caught, promise } from '../support/promise.js';
import { startReplicas, type Replicas } from '../support/replicas.js';
import { seedSessions } from '../support/seeded-sessions.js';

jest.setTimeout(60_000);

const REPLICAS = 3;
const SESSIONS = 300;
const READS = 2_000;
/** Sessions come due again and again while they are being read. */
const IMPATIENT = {
  POLL_TICK_MS: 10,
  POLL_MIN_INTERVAL_MS: 10,
  POLL_MAX_INTERVAL_MS: 20,
  SCS_MAX_CONCURRENCY: 64,
};
const LATENCY_MS = 40;
/** Who asks for a session at a screen, in each replica. */
const CALLERS = 4;
const NOT_WHILE_READ = 'batch_id <> ALL (ARRAY(SELECT id FROM poll_batches))';

let replicas: Replicas;
afterEach(() => replicas.close());

const totalReads = ({ reads }: SandboxLedger): number =>
  Object.values(reads).reduce((total, read) => total + read.total, 0);

/** Polls with every replica, and asks each of them for sessions as fresh as can be, until `isEnough`. */
async function readUntil(
  isEnough: (ledger: SandboxLedger) => boolean,
  sessions: number,
): Promise<SandboxLedger> {
  const { control } = replicas.sandbox;
  const ids = await seedSessions(replicas.apps[0]!.app.get(Database), control, sessions);
  await control.change({ latencyMs: LATENCY_MS });
  let enough = false;
  const statuses = new Set<number>();
  const callers = replicas.clients.flatMap((client) =>
    Array.from({ length: CALLERS }, async (_, caller) => {
      for (let call = caller; !enough; call++) {
        const id = ids[Math.floor(Math.random() * ids.length)]!;
        const path = `/onboarding/pv/${id}`;
        const answer =
          call % 2 === 0 ? client.call('GET', `${path}?maxAge=0`) : client.call('POST', `${path}/refresh`);
        statuses.add((await answer).status);
      }
    }),
  );
  const ledger = await waitFor(
    'it was read enough',
    async () => {
      const now = await control.ledger();
      return isEnough(now) && now;
    },
    40_000,
  ).finally(() => (enough = true));
  await Promise.all(callers);
  expect([...statuses]).toEqual([200]);
  return ledger;
}

const withoutLeaseCheck = (app: NestFastifyApplication): void => {
  changeStatement(app, SELECT_DUE, `q.${NOT_WHILE_READ}`, 'true');
  changeStatement(app, CLAIM, `p.${NOT_WHILE_READ}`, 'true');
};

describe('R4: no session is read twice at once', () => {
  it('by the pollers of three replicas and by those who ask each of them to read now', async () => {
    replicas = await startReplicas({ count: REPLICAS, environment: IMPATIENT });
    const ledger = await readUntil((now) => totalReads(now) >= READS, SESSIONS);
    promise('R4', {
      figure: `${ledger.maxConcurrentReadsOfOneSession} at once in ${totalReads(ledger)} reads of ${SESSIONS} sessions by ${REPLICAS} replicas`,
      bound: '1',
    });
    expect(Object.keys(ledger.reads)).toHaveLength(SESSIONS);
    expect(ledger.maxConcurrentReadsOfOneSession).toBe(1);
  });

  it('turns red when a claim does not ask whether a session is being read', async () => {
    replicas = await startReplicas({ count: 2, environment: IMPATIENT, prepare: withoutLeaseCheck });
    const ledger = await readUntil((now) => now.maxConcurrentReadsOfOneSession > 1, 10);
    expect(ledger.maxConcurrentReadsOfOneSession).toBeGreaterThan(1);
    caught('R4', 'claim without a look at who is reading');
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { CLAIM_POLLS, SELECT_DUE } from '../../../src/onboarding/poll/polls.sql.js';
import type { SandboxLedger } from '../../setup/sandbox/sandbox-control.js';
import { waitFor } from '../../setup/wait-for.js';
import { changeStatement } from '../support/changed-statement.js';
import { gatePolling, type PollingGate } from '../support/polling-gate.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { startBeside, startReplicas, type Replicas } from '../support/replicas.js';
import { seedSessions } from '../support/seeded-sessions.js';
import { waitUntilHeld } from '../support/waits.js';

const REPLICAS = 3;
const [SESSIONS, READS] = isLong ? [300, 2_000] : [100, 300];
/** With these intervals, a session is due again while it is being read. */
const IMPATIENT = {
  POLL_TICK_MS: 10,
  POLL_MIN_INTERVAL_MS: 10,
  POLL_MAX_INTERVAL_MS: 20,
  SCS_MAX_CONCURRENCY: 64,
  // This timeout also limits how long a caller waits for a session, which the pollers read again and again.
  SCS_TIMEOUT_MS: 30_000,
};
const LATENCY_MS = 40;
const CALLERS = 4;
/** The initial concurrency limit of a replica. */
const INITIAL_LIMIT = 8;
const NOT_WHILE_READ = 'batch_id <> ALL (ARRAY(SELECT id FROM poll_batches))';

/** With this timeout, a held read lasts longer than its worker is frozen. */
const LEASES = { SCS_TIMEOUT_MS: 20_000, POLL_LEASE_MS: 21_000 };
/** With LEASES, a worker begins no read when less than this remains of its lease. */
const READ_WITHIN_MS = 14_000;

let replicas: Replicas;
let gates: PollingGate[];
afterEach(() => replicas.close());

async function startGated(count: number, mutate: (app: NestFastifyApplication) => void = () => {}) {
  gates = [];
  const prepare = (app: NestFastifyApplication): void => {
    mutate(app);
    gates.push(gatePolling(app));
  };
  replicas = await startReplicas({ count, environment: IMPATIENT, prepare });
}

const totalReads = ({ reads }: SandboxLedger): number =>
  Object.values(reads).reduce((total, read) => total + read.total, 0);

/** Polls with every replica and requests fresh reads from each, until `isEnough`. */
async function readUntil(isEnough: (ledger: SandboxLedger) => boolean, sessions: number) {
  const { control } = replicas.sandbox;
  const ids = await seedSessions(replicas.apps[0]!.database, control, sessions);
  await control.change({ latencyMs: LATENCY_MS });
  for (const gate of gates) gate.open();
  let enough = false;
  const statuses = new Set<number>();
  const callers = replicas.clients.flatMap((client) =>
    Array.from({ length: CALLERS }, async (_, caller) => {
      for (let call = caller; !enough; call++) {
        const id = ids[Math.floor(Math.random() * ids.length)]!;
        const path = `/onboarding/pv/${id}`;
        const response =
          call % 2 === 0 ? client.call('GET', `${path}?maxAge=0`) : client.call('POST', `${path}/refresh`);
        statuses.add((await response).status);
      }
    }),
  );
  const ledger = await waitFor('it was read enough', async () => {
    const now = await control.ledger();
    return isEnough(now) && now;
  }).finally(() => {
    enough = true;
    // Stops the pollers, which might otherwise prevent a waiting caller from claiming its session.
    for (const gate of gates) gate.close();
  });
  await Promise.all(callers);
  expect([...statuses]).toEqual([200]);
  return ledger;
}

/**
 * Freezes a worker that has read some sessions of its batch, until another worker has read all of them. Returns the greatest number of
 * concurrent reads of one session.
 */
async function readBesideFrozenWorker(file: string): Promise<number> {
  let gate: PollingGate | undefined;
  const environment = { ...IMPATIENT, ...LEASES };
  replicas = await startReplicas({ count: 1, environment, prepare: (app) => (gate = gatePolling(app)) });
  const { control } = replicas.sandbox;
  const database = replicas.apps[0]!.database;
  await control.change({ latencyMs: LATENCY_MS });
  await seedSessions(database, control, SESSIONS);
  const { id: hold } = await control.addFault({
    kind: 'hold',
    operation: 'read_session',
    times: INITIAL_LIMIT,
  });
  const worker = await startBeside(replicas, file, { ...environment, ROLE: 'worker' });
  const readMore = async (count: number) => {
    const before = totalReads(await control.ledger());
    await waitFor(`${count} more reads`, async () => totalReads(await control.ledger()) > before + count);
  };
  try {
    await waitUntilHeld(control, INITIAL_LIMIT);
    const claimed = 'SELECT worker, max(id) AS last FROM poll_batches GROUP BY worker';
    const [frozen] = await database.query<{ worker: string; last: string }>(claimed);
    worker.kill('SIGSTOP');
    await control.release(hold);
    await waitFor('its leases might expire during a read', async () => {
      const rows = await database.query(
        'SELECT FROM poll_batches WHERE lease_until > clock_timestamp() + $1::interval',
        [`${READ_WITHIN_MS} ms`],
      );
      return rows.length === 0;
    });
    await database.query("UPDATE poll_batches SET lease_until = clock_timestamp() - interval '1 second'");
    gate!.open();
    await readMore(2 * SESSIONS);
    worker.kill('SIGCONT');
    await waitFor('the worker has claimed another batch', async () => {
      const claims = 'SELECT FROM poll_batches WHERE worker = $1 AND id > $2';
      return (await database.query(claims, [frozen!.worker, frozen!.last])).length > 0;
    });
    await readMore(SESSIONS);
    return (await control.ledger()).maxConcurrentReadsOfOneSession;
  } finally {
    await worker.stop('SIGKILL');
  }
}

const withoutLeaseCheck = (app: NestFastifyApplication): void => {
  changeStatement(app, SELECT_DUE, `q.${NOT_WHILE_READ}`, 'true');
  changeStatement(app, CLAIM_POLLS, `p.${NOT_WHILE_READ}`, 'true');
};

describe('R4: no session is read twice at once', () => {
  it('by the pollers of three replicas and by callers that refresh at each of them', async () => {
    await startGated(REPLICAS);
    const isEnough = (now: SandboxLedger) =>
      totalReads(now) >= READS && Object.keys(now.reads).length === SESSIONS;
    const ledger = await readUntil(isEnough, SESSIONS);
    promise('R4', {
      figure: `${ledger.maxConcurrentReadsOfOneSession} at once in ${totalReads(ledger)} reads of ${SESSIONS} sessions by ${REPLICAS} replicas`,
      bound: '1',
    });
    expect(ledger.maxConcurrentReadsOfOneSession).toBe(1);
  });

  itAtLength('by a worker that was frozen for longer than its lease', async () => {
    const atOnce = await readBesideFrozenWorker('src/main.ts');
    promise('R4', { figure: `${atOnce} at once after a worker was frozen`, bound: '1' });
    expect(atOnce).toBe(1);
  });

  itAtLength('turns red when a claim does not check whether a session is being read', async () => {
    await startGated(2, withoutLeaseCheck);
    const ledger = await readUntil((now) => now.maxConcurrentReadsOfOneSession > 1, 10);
    expect(ledger.maxConcurrentReadsOfOneSession).toBeGreaterThan(1);
  });
});

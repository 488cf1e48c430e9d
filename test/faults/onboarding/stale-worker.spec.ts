import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { PollsStore } from '../../../src/onboarding/poll/polls.store.js';
import { SessionsStore } from '../../../src/onboarding/store/sessions.store.js';
import { Database } from '../../../src/platform/database/database.js';
import { waitFor } from '../../setup/wait-for.js';
import { gatePolling, type PollingGate } from '../support/polling-gate.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { startBeside, startReplicas, startSessions, type Replicas } from '../support/replicas.js';
import { readSessionRecords } from '../support/evidence/session-records.js';
import { waitUntilHeld } from '../support/waits.js';

/** The initial concurrency limit of a replica. */
const SESSIONS = 8;
const ROUNDS = isLong ? 10 : 1;
/** Intervals so long that only the test makes sessions due, and a timeout so long that no held call times out. */
const INTERVALS = { POLL_MIN_INTERVAL_MS: 60_000, POLL_MAX_INTERVAL_MS: 600_000, SCS_TIMEOUT_MS: 30_000 };

let replicas: Replicas;
let gates: PollingGate[];
/** The sessions that the stalled replica has written or tried to write. */
let written: Set<string>;

beforeEach(() => {
  gates = [];
  written = new Set();
});
afterEach(() => replicas.close());

/** Prevents the first replica from renewing and releasing leases, as if its process were frozen. */
const stall =
  (mutate: (app: NestFastifyApplication) => void) => (app: NestFastifyApplication, replica: number) => {
    gates[replica] = gatePolling(app);
    if (replica > 0) return;
    const polls = app.get(PollsStore);
    polls.renewLeases = async (ids) => new Set(ids);
    polls.releaseExpiredBatches = async () => 0;
    mutate(app);
    const sessions = app.get(SessionsStore);
    const applyReadings = sessions.applyReadings.bind(sessions);
    sessions.applyReadings = async (readings) => {
      const result = await applyReadings(readings);
      for (const { sessionId } of readings) written.add(sessionId);
      return result;
    };
    const recordFailures = polls.recordFailures.bind(polls);
    polls.recordFailures = async (failed) => {
      await recordFailures(failed);
      for (const { sessionId } of failed) written.add(sessionId);
    };
  };

interface HeldReads {
  /** The sessions whose held response shows that the owner has finished the web flow. */
  readonly changed: readonly string[];
  readonly unreadable: readonly string[];
  release(): Promise<void>;
}

async function holdReads(): Promise<HeldReads> {
  const { control } = replicas.sandbox;
  const ids = (await startSessions(replicas.clients.at(-1)!, SESSIONS)).map(({ id }) => id);
  const changed = ids.filter((_, index) => index % 2 === 0);
  const unreadable = ids.filter((_, index) => index % 2 === 1);
  for (const id of changed) await control.complete(id);
  for (const id of unreadable) await control.fields(id, { set: { finished: 'perhaps' } });
  const { id: fault } = await control.addFault({ kind: 'hold', operation: 'read_session', times: SESSIONS });
  await makeDue(ids);
  return { changed, unreadable, release: async () => void (await control.release(fault)) };
}

const database = (): Database => replicas.apps.at(-1)!.database;

const makeDue = (ids: readonly string[]) =>
  database().query(
    `UPDATE session_polls SET due_at = clock_timestamp() - interval '1 ms' WHERE session_id = ANY($1::uuid[])`,
    [ids],
  );

/** Expires the lease of the stalled replica. The other replica then reads every session, and finds it online. */
async function finishElsewhere({ changed, unreadable }: HeldReads): Promise<void> {
  const { control } = replicas.sandbox;
  const client = replicas.clients.at(-1)!;
  const gate = gates.at(-1)!;
  await database().query("UPDATE poll_batches SET lease_until = clock_timestamp() - interval '1 second'");
  for (const id of unreadable) await control.fields(id);
  for (const id of [...changed, ...unreadable]) await control.online(id, { inverters: 1 });
  gate.open();
  for (const id of [...changed, ...unreadable]) {
    await client.untilState(id, 'online');
  }
  gate.close();
  await waitFor('nothing is being read', async () => {
    const rows = await database().query('SELECT FROM poll_batches');
    return rows.length === 0;
  });
}

/** Releases the held responses to the stalled replica. Returns the sessions that it changes then. */
async function staleWrites(held: HeldReads, resume: () => Promise<unknown>): Promise<string[]> {
  const before = await readSessionRecords(database());
  await held.release();
  await resume();
  const after = await readSessionRecords(database());
  return [...before].filter(([id, record]) => after.get(id) !== record).map(([id]) => id);
}

/** Holds the reads of the stalled replica, lets the other replica read every session, and then releases the held responses. */
async function runRound(): Promise<{ held: HeldReads; stale: string[] }> {
  const held = await holdReads();
  gates[0]!.open();
  await waitUntilHeld(replicas.sandbox.control, SESSIONS);
  gates[0]!.close();
  await finishElsewhere(held);
  const ids = [...held.changed, ...held.unreadable];
  const stale = await staleWrites(held, () =>
    waitFor('the stalled replica has written', () => ids.every((id) => written.has(id))),
  );
  return { held, stale: stale.sort() };
}

describe('R3: a worker whose lease has expired changes nothing', () => {
  it('when its responses arrive after another replica has finished its sessions', async () => {
    replicas = await startReplicas({ count: 2, environment: INTERVALS, prepare: stall(() => {}) });
    const stale: string[] = [];
    for (let round = 0; round < ROUNDS; round++) stale.push(...(await runRound()).stale);
    promise('R3', {
      figure: `${stale.length} stale writes in ${ROUNDS} rounds of ${SESSIONS} sessions`,
      bound: '0',
    });
    expect(stale).toEqual([]);
  });

  itAtLength('when its process was frozen meanwhile', async () => {
    replicas = await startReplicas({
      count: 1,
      environment: INTERVALS,
      prepare: (app) => gates.push(gatePolling(app)),
    });
    const held = await holdReads();
    const worker = await startBeside(replicas, 'src/main.ts', { ROLE: 'worker', ...INTERVALS });
    await waitUntilHeld(replicas.sandbox.control, SESSIONS);
    worker.kill('SIGSTOP');
    await finishElsewhere(held);
    const stale = await staleWrites(held, async () => {
      worker.kill('SIGCONT');
      await waitFor('the worker has noticed that its lease is lost', () => /lease/.test(worker.logs()));
      await worker.stop();
    });
    promise('R3', { figure: `${stale.length} stale writes of a frozen process`, bound: '0' });
    expect(stale).toEqual([]);
  });

  itAtLength('turns red when a response is written by the id of its session only', async () => {
    const writeByIdOnly = (app: NestFastifyApplication) => {
      const sessions = app.get(SessionsStore);
      const applyReadings = sessions.applyReadings.bind(sessions);
      sessions.applyReadings = async (readings) => {
        const holders = await app
          .get(Database)
          .query<{ id: string; batchId: string }>(
            'SELECT session_id AS id, batch_id::text AS "batchId" FROM session_polls',
          );
        const holderOf = new Map(holders.map(({ id, batchId }) => [id, batchId]));
        return applyReadings(
          readings.map((reading) => ({ ...reading, batchId: holderOf.get(reading.sessionId)! })),
        );
      };
    };
    replicas = await startReplicas({ count: 2, environment: INTERVALS, prepare: stall(writeByIdOnly) });
    const { held, stale } = await runRound();
    expect(stale).toEqual([...held.changed].sort());
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AuthorisedRemote } from '../../../src/auth/authorised-remote.service.js';
import { Database } from '../../../src/platform/database/database.js';
import { waitFor } from '../../setup/wait-for.js';
import { gatePolling, type PollingGate } from '../support/polling-gate.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { startReplicas, type Replicas } from '../support/replicas.js';
import { seedSessions } from '../support/seeded-sessions.js';

const SESSIONS = isLong ? 1_000 : 60;
/** The number of refused sessions. It is small for 401, since the first 401 to each of these sessions blocks all calls for a second. */
const REFUSED = { 403: isLong ? 15 : 5, 401: 1 } as const;
const MIN_INTERVAL_MS = 50;
const MAX_INTERVAL_MS = isLong ? 1_000 : 200;
/** The number of reads of each other session while some sessions are refused. */
const READS = isLong ? 30 : 10;

let replicas: Replicas;
afterEach(() => replicas.close());

const database = (): Database => replicas.apps[0]!.database;

/** Starts a service whose remote service refuses every read of some sessions. */
async function refuse(status: 401 | 403, prepare?: (app: NestFastifyApplication) => void) {
  let gate: PollingGate | undefined;
  replicas = await startReplicas({
    count: 1,
    environment: { POLL_MIN_INTERVAL_MS: MIN_INTERVAL_MS, POLL_MAX_INTERVAL_MS: MAX_INTERVAL_MS },
    prepare: (app) => {
      gate = gatePolling(app);
      prepare?.(app);
    },
  });
  const { control } = replicas.sandbox;
  // The sessions are due at the same time, so the refusals come in a row.
  const ids = await seedSessions(database(), control, SESSIONS);
  const refused = ids.slice(0, REFUSED[status]);
  for (const contains of refused)
    await control.addFault({ kind: 'answer', status, operation: 'read_session', contains, times: null });
  const beganAt = performance.now();
  gate!.open();
  return { refused, others: ids.slice(REFUSED[status]), beganAt };
}

/** Returns the shortest time in which a refused session is read `times` times, in spite of its backoff. */
function leastMs(times: number): number {
  const waits = Array.from({ length: times - 1 }, (_, nth) =>
    Math.min(MIN_INTERVAL_MS * 2 ** (nth + 1), MAX_INTERVAL_MS / 1.1),
  );
  return waits.reduce((sum, ms) => sum + ms, 0);
}

async function readsOf(ids: readonly string[]): Promise<number[]> {
  const { reads } = await replicas.sandbox.control.ledger();
  return ids.map((id) => reads[id]?.total ?? 0);
}

const statesOf = async (ids: readonly string[]): Promise<string[]> => {
  const rows = await database().query<{ state: string }>(
    'SELECT DISTINCT state FROM onboarding_sessions WHERE id = ANY($1::uuid[])',
    [ids],
  );
  return rows.map(({ state }) => state);
};

const causesOf = async (ids: readonly string[]): Promise<string[]> => {
  const rows = await database().query<{ cause: string }>(
    `SELECT DISTINCT cause FROM admin.stalled WHERE kind = 'session' AND id = ANY($1::uuid[])`,
    [ids],
  );
  return rows.map(({ cause }) => cause);
};

const untilRead = (ids: readonly string[], times: number) =>
  waitFor(
    `each of ${ids.length} sessions was read ${times} times`,
    async () => Math.min(...(await readsOf(ids))) >= times,
  );

const troubles = () => database().query(`SELECT FROM domain_events WHERE name LIKE 'remote.%'`);

/** Counts the reads that were not sent or whose refusal was attributed to the credentials. Each of them pauses the worker. */
async function countPauses(): Promise<number> {
  const text = await (await fetch(`${replicas.apps[0]!.url}/metrics`)).text();
  return Number(/^pv_onboarding_session_reads_total\{outcome="not_sent"\} (\d+)/m.exec(text)?.[1]);
}

describe('R71: a refused session is not taken for refused credentials', () => {
  it.each([403, 401] as const)('backs off, is shown and ends, while others are read: %i', async (status) => {
    const { refused, others, beganAt } = await refuse(status);
    await untilRead(others, READS);
    // Every read of a refused session tries both paths.
    const most = Math.max(...(await readsOf(refused))) / 2;
    const elapsedMs = performance.now() - beganAt;
    await waitFor('each refused session is lost', async () => String(await statesOf(refused)) === 'lost');
    const pauses = await countPauses();
    const alarms = (await troubles()).length;
    promise('R71', {
      figure: `${refused.length} of ${SESSIONS} sessions refused with ${status}: all lost, ${pauses} reads held back, ${alarms} alarms`,
      bound: status === 403 ? 'all lost, 0, 0' : 'all lost, a batch, 0',
    });
    if (status === 403) expect(pauses).toBe(0);
    expect(elapsedMs).toBeGreaterThan(leastMs(Math.floor(most)));
    expect(await statesOf(others)).toEqual(['awaiting_owner']);
    await waitFor('each of them is stalled', async () => String(await causesOf(refused)) === 'lost');
    expect(await causesOf(others)).toEqual([]);
    expect(alarms).toBe(0);
    const rules = `SELECT DISTINCT rule FROM session_transitions WHERE to_state = 'lost'`;
    expect(await database().query(rules)).toEqual([{ rule: 'refused_on_every_path' }]);
  });

  it('pauses the worker and loses no session when every session is refused, and then reads them again', async () => {
    replicas = await startReplicas({ count: 1, environment: { POLL_MIN_INTERVAL_MS: 500 } });
    const { control } = replicas.sandbox;
    const ids = await seedSessions(database(), control, SESSIONS);
    await control.addFault({ kind: 'answer', status: 403, operation: 'read_session', times: null });
    const announced = (name: string) => () =>
      database()
        .query(`SELECT FROM domain_events WHERE name = $1 AND subject = 'read_session'`, [name])
        .then(({ length }) => length === 1);
    await waitFor('it is announced', announced('remote.degraded'));
    await control.clearFaults();
    await waitFor('the recovery is announced', announced('remote.recovered'));
    expect(await statesOf(ids)).toEqual(['awaiting_owner']);
    const [row] = await database().query<{ refusals: number }>(
      'SELECT max(not_found) AS refusals FROM session_polls',
    );
    expect(row).toEqual({ refusals: 0 });
  });

  itAtLength('turns red when the first refusal pauses the worker', async () => {
    const { refused } = await refuse(403, (app) => {
      app.get(AuthorisedRemote)['refusals'].recordRefused = () => 'all';
    });
    await waitFor('each was read twice', async () => Math.min(...(await readsOf(refused))) >= 4);
    expect(await countPauses()).toBeGreaterThan(0);
  });
});

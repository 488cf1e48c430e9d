import { afterEach, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SessionsStore } from '../../../src/onboarding/store/sessions.store.js';
import { waitFor } from '../../setup/wait-for.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { listOf, sessionBody, type ReadAnswer } from '../support/network/scripted-remote.js';
import { startScriptedService, type ScriptedService } from '../support/network/scripted-service.js';

const OF_EACH = isLong ? 10 : 1;
/** Reads per session. At the default interval of 15 s, 40 take ten minutes. */
const READS = isLong ? 40 : 15;

/** Responses that a remote service may return during a faulty deployment. */
const NONSENSE: Record<string, (sessionId: string) => ReadAnswer> = {
  'expiresAt in the year 1': (id) => ({ body: sessionBody(id, { expiresAt: '0001-01-01T00:00:00Z' }) }),
  'expiresAt in the past': (id) => ({ body: sessionBody(id, { expiresAt: '2026-01-01T00:00:00Z' }) }),
  'expiresAt in the year 9999': (id) => ({ body: sessionBody(id, { expiresAt: '9999-12-31T00:00:00Z' }) }),
  'not found': () => ({ status: 404, body: '{}' }),
  gone: () => ({ status: 410, body: '' }),
  'flags that mean nothing': (id) => ({ body: sessionBody(id, { finished: true, active: true }) }),
  'an empty object': () => ({ body: '{}' }),
};

let service: ScriptedService;
afterEach(() => service.close());

/** Makes the remote service return nonsense for READS reads of each session, then `online`. Counts the closed and the online sessions. */
async function deploy(prepare?: (app: NestFastifyApplication) => void) {
  // With LATE_ONLINE_DAYS 0, the service closes a session as soon as it accepts that the session has ended.
  service = await startScriptedService({ LATE_ONLINE_DAYS: 0, POLL_MAX_INTERVAL_MS: 50 }, prepare);
  const { remote, client, database } = service;
  const count = async () => {
    const [row] = await database.query<{ closed: number; online: number; events: number }>(
      `SELECT count(*) FILTER (WHERE closed_at IS NOT NULL)::int AS closed, count(*) FILTER (WHERE state = 'online')::int AS online,
              (SELECT count(*)::int FROM domain_events WHERE name = 'session.closed') AS events
         FROM onboarding_sessions`,
    );
    return row!;
  };
  const scripted: (readonly [string, (typeof NONSENSE)[string]])[] = [];
  for (const nonsense of Object.values(NONSENSE)) {
    for (let nth = 0; nth < OF_EACH; nth++) {
      const { id } = await client.startNew();
      remote.script(id, () => nonsense(id));
      scripted.push([id, nonsense]);
    }
  }
  const isRead = ([id]: readonly [string, unknown]) => (remote.reads.get(id) ?? 0) >= READS;
  await waitFor(
    'every session was read often enough, or closed',
    async () => scripted.filter((one) => !isRead(one)).length <= (await count()).closed,
  );
  for (const [id] of scripted) {
    const body = sessionBody(id, { finished: true, active: false, inverters: listOf(1) });
    remote.script(id, () => ({ body }));
  }
  await waitFor('all are online or closed', async () => {
    const { closed, online } = await count();
    return closed + online === scripted.length;
  });
  return { sessions: scripted.length, ...(await count()) };
}

describe('R65: an end needs lasting evidence', () => {
  it('closes no session after minutes of nonsense, and then finds it online', async () => {
    const { sessions, closed, online, events } = await deploy();
    promise('R65', {
      figure: `${closed} of ${sessions} sessions closed after ${READS} reads of nonsense, ${online} online`,
      bound: '0, all',
    });
    expect({ closed, online, events }).toEqual({ closed: 0, online: sessions, events: 0 });
  });

  it('closes a session that has been gone for hours, reads it once per refresh, and reopens it when it is back', async () => {
    service = await startScriptedService({});
    const { remote, client, database } = service;
    const { id } = await client.startNew();
    remote.script(id, () => ({ status: 404, body: '{}' }));
    await client.untilState(id, 'lost');
    expect(await client.session(id)).toMatchObject({
      startUrl: null,
      closedAt: null,
      nextCheckAt: expect.any(String),
    });
    await database.query(
      `UPDATE session_polls SET ending_since = ending_since - interval '6 hours', ending_reads = 5, not_found = 4,
              due_at = clock_timestamp() - interval '1 ms' WHERE session_id = $1`,
      [id],
    );
    await waitFor('it is closed', async () => (await client.session(id)).closedAt !== null);
    expect(await client.eventsOf(id)).toEqual(['session.started', 'session.lost', 'session.closed']);

    const reads = remote.reads.get(id)!;
    await client.call('POST', `/onboarding/pv/${id}/refresh`);
    expect(remote.reads.get(id)).toBeGreaterThan(reads);
    expect(await client.session(id)).toMatchObject({ state: 'lost', nextCheckAt: null });

    const body = sessionBody(id, { finished: true, active: false, inverters: listOf(1) });
    remote.script(id, () => ({ body }));
    expect(await client.call('POST', `/onboarding/pv/${id}/refresh`)).toMatchObject({
      status: 200,
      body: { state: 'online', closedAt: null },
    });
    expect((await client.eventsOf(id)).slice(3)).toEqual([
      'session.reopened',
      'session.online',
      'inverter.online',
    ]);
  });

  itAtLength('turns red when a reason to close a session need not last', async () => {
    const { closed } = await deploy((app) => {
      Object.assign(app.get(SessionsStore)['settings'], { endEvidenceMs: 0 });
    });
    expect(closed).toBeGreaterThan(0);
  });
});

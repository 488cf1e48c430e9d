import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { EventSignal } from '../../../src/events/event-signal.service.js';
import { appendEvents } from '../../../src/events/outbox.js';
import type { TimelineEntryView } from '../../../src/timeline/timeline.list.js';
import { SessionsService } from '../../../src/onboarding/api/sessions.service.js';
import { PollsStore } from '../../../src/onboarding/poll/polls.store.js';
import { SessionRefreshService } from '../../../src/onboarding/poll/refresh.service.js';
import { SessionViewsStore } from '../../../src/onboarding/store/session-views.store.js';
import { SessionsStore } from '../../../src/onboarding/store/sessions.store.js';
import { Database } from '../../../src/platform/database/database.js';
import { HeldRequests } from '../../../src/platform/http/held-requests.js';
import type { Page } from '../../../src/platform/http/page.js';
import { Problem } from '../../../src/platform/problem/problem.js';
import { sessionEvent } from '../../db/events/fixture.js';
import { inTime, measureUntil } from '../../faults/support/promise.js';
import { TestClient, type SessionAnswer } from '../../setup/client.js';
import type { SandboxControl } from '../../setup/sandbox/sandbox-control.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { createKey } from '../keys.js';

// No poller runs: only the test reads sessions and changes states.
const service = useTestApp({ ROLE: 'api' });
const client = TestClient.of(service);
let sandbox: SandboxControl;
let database: Database;

beforeAll(() => {
  sandbox = service.sandbox!.control;
  database = service.database;
});
afterEach(async () => {
  jest.restoreAllMocks();
  await sandbox.clearFaults();
});

const refresh = (id: string) => client.call<SessionAnswer>('POST', `/onboarding/pv/${id}/refresh`);
const readsOf = async (id: string) => (await sandbox.ledger()).reads[id] ?? { total: 0, inFlight: 0 };

/**
 * Sends a refresh, holds its response, lets the session come online, and sends two further refreshes. Returns the state that the first
 * refresh gets, and the states that the further ones get.
 */
async function refreshDuringChange(id: string) {
  // Holds the response to the next read. The response shows the session at the time of the read.
  const hold = () => sandbox.addFault({ kind: 'hold', operation: 'read_session' });
  const first = await hold();
  const early = refresh(id);
  await waitFor('the first read', async () => (await readsOf(id)).inFlight === 1);
  await sandbox.online(id);
  const late = Promise.all([refresh(id), refresh(id)]);
  await waitForJoined();
  // Also holds the second read, so that it does not change the session before the first refresh returns it.
  await hold();
  await sandbox.release(first.id);
  const before = (await early).body.state;
  await sandbox.clearFaults();
  return { before, after: (await late).map(({ body }) => body.state) };
}

const waitForJoined = () =>
  waitFor('the others', () => service.app.get(SessionRefreshService)['waiting'].size === 1);

const waitForHeld = (count: number) =>
  waitFor(`${count} requests that wait`, () => service.app.get(HeldRequests).count('wait') === count);
const msSince = (beganAt: number): number => performance.now() - beganAt;

const change = (id: string) =>
  database.transaction(async (tx) => {
    await tx.query(
      `UPDATE onboarding_sessions SET state = 'awaiting_installation', basis = 'inferred' WHERE id = $1`,
      [id],
    );
    await appendEvents(tx, [sessionEvent('session.awaiting_installation', id)]);
  });

async function expectWithin(mostMs: number, measure: () => Promise<number>): Promise<void> {
  expect(await measureUntil((ms) => ms < mostMs, measure)).toBeLessThan(inTime(mostMs));
}

describe('a session that many callers read at once', () => {
  it('is read once for the first request, and once for all that arrive meanwhile', async () => {
    const { id } = await client.startNew();
    const { id: fault } = await sandbox.addFault({ kind: 'hold', operation: 'read_session' });
    const refreshes = service.app.get<{ readSince(): unknown }>(SessionRefreshService);
    const requested = jest.spyOn(refreshes, 'readSince');
    const getFresh = () => client.call('GET', `/onboarding/pv/${id}?maxAge=0`);
    const first = refresh(id);
    await waitFor('the first read', async () => (await readsOf(id)).inFlight === 1);
    const others = Array.from({ length: 199 }, (_, i) => (i % 4 === 0 ? getFresh() : refresh(id)));
    await waitFor('all requests', () => requested.mock.calls.length === 200);
    await sandbox.release(fault);
    const responses = await Promise.all([first, ...others]);
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await readsOf(id)).total).toBe(2);
  });

  it('is never returned from a read that was sent before the request', async () => {
    const { id } = await client.startNew();
    const states = await refreshDuringChange(id);
    expect(states).toEqual({ before: 'awaiting_owner', after: ['online', 'online'] });
  });
});

it('looks less often for a session whose reader has vanished', async () => {
  const { id } = await client.startNew();
  const polls = service.app.get(PollsStore);
  await polls.claimOne(id);
  const claimOne = polls.claimOne.bind(polls);
  const looksAt: number[] = [];
  const look = jest.spyOn(polls, 'claimOne').mockImplementation(async (...given) => {
    looksAt.push(performance.now());
    return claimOne(...given);
  });
  const read = refresh(id);
  await waitFor('twelve looks', () => looksAt.length >= 12);
  look.mockRestore();
  // The first two pauses together take 125 ms.
  expect(looksAt[11]! - looksAt[9]!).toBeGreaterThan(900);
  await database.query('DELETE FROM poll_batches');
  expect((await read).status).toBe(200);
});

describe.each(['/onboarding/pv/', '/users/{userId}/pv/onboarding-sessions/'])(
  'a session at %s that cannot be read',
  (path) => {
    const read = (id: string, userId: string, query: string) =>
      client.call<SessionAnswer & { stale?: boolean; errors: readonly { field: string }[] }>(
        'GET',
        `${path.replace('{userId}', userId)}${id}${query}`,
      );
    // A read that succeeds, so that the failures of these tests do not keep the circuit breaker open.
    afterEach(async () => {
      const { id } = await client.startNew();
      await sandbox.clearFaults();
      await waitFor('reads pass', async () => (await refresh(id)).status === 200);
    });
    const fail = () =>
      sandbox.addFault({ kind: 'answer', status: 500, operation: 'read_session', times: null });

    it('returns 503, or with stale=allow the last known state with the time of its read', async () => {
      const { id, userId } = await client.startNew();
      const { checkedAt } = await client.session(id);
      await fail();
      const refused = await read(id, userId, '?maxAge=0');
      expect(refused).toMatchObject({ status: 503, body: { code: 'remote_unavailable' } });
      const { status, body } = await read(id, userId, '?maxAge=0&stale=allow');
      expect([status, body]).toMatchObject([200, { id, state: 'awaiting_owner', checkedAt, stale: true }]);
      const revoked = new Problem('unauthenticated', 'The key has been revoked');
      jest.spyOn(service.app.get(SessionRefreshService), 'getFresh').mockRejectedValueOnce(revoked);
      expect((await read(id, userId, '?maxAge=0&stale=allow')).status).toBe(401);
    });

    it('is not stale if it is young enough, was read, or is read during the wait', async () => {
      const { id, userId } = await client.startNew();
      expect((await read(id, userId, '?maxAge=0&stale=allow')).body.stale).toBe(false);
      expect((await read(id, userId, '')).body).not.toHaveProperty('stale');
      await fail();
      expect((await read(id, userId, '?maxAge=3600&stale=allow')).body.stale).toBe(false);
      expect((await read(id, userId, '?stale=allow')).body.stale).toBe(false);
      const waiting = read(id, userId, '?maxAge=0&stale=allow&wait=20');
      await waitForHeld(1);
      await sandbox.clearFaults();
      await sandbox.online(id);
      await waitFor('a read', async () => (await refresh(id)).status === 200);
      expect((await waiting).body).toMatchObject({ state: 'online', stale: false });
    });
  },
);

describe('a closed session that several callers read', () => {
  /** Returns a session that expired at the remote service and was closed long ago. */
  async function startClosed(): Promise<string> {
    const { id } = await client.startNew();
    await sandbox.expire(id);
    await refresh(id);
    await database.query(
      `WITH unwatched AS (DELETE FROM session_polls WHERE session_id = $1)
       UPDATE onboarding_sessions SET closed_at = now(), close_reason = 'late_window_over', state_changed_at = now() - interval '9 days'
        WHERE id = $1`,
      [id],
    );
    return id;
  }

  it('is never returned from a read that was sent before the request', async () => {
    const states = await refreshDuringChange(await startClosed());
    expect(states).toEqual({ before: 'expired', after: ['online', 'online'] });
  });

  it('stays watched when one read fails while another finds it online', async () => {
    const id = await startClosed();
    await sandbox.online(id);
    const sessions = service.app.get<{ reschedule(...given: unknown[]): Promise<void> }>(SessionsStore);
    const reschedule = sessions.reschedule.bind(sessions);
    let stopped: Promise<void> | undefined;
    jest.spyOn(sessions, 'reschedule').mockImplementationOnce(async (...given) => {
      await reschedule(...given);
      const waiting = await lockWaits();
      stopped = service.app.get(PollsStore).stopWatchingClosed(id, '0');
      // Waits until `stopWatchingClosed` waits for a lock of this transaction, or has ended.
      await Promise.race([stopped, waitFor('it waits', async () => (await lockWaits()) > waiting)]);
    });
    expect((await refresh(id)).body).toMatchObject({ state: 'online', closedAt: null });
    await stopped;
    expect((await client.session(id)).nextCheckAt).toEqual(expect.any(String));
  });

  async function lockWaits(): Promise<number> {
    const [row] = await database.query<{ waits: number }>(
      `SELECT count(*)::int AS waits FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return row!.waits;
  }
});

describe('?wait= on a session', () => {
  it.each(['/onboarding/pv/', '/users/{userId}/pv/onboarding-sessions/'])(
    'at %s responds as soon as the state changes',
    async (path) => {
      // Disables the tick of every second, so that only the notification can end the wait.
      const signal = service.app.get(EventSignal);
      clearInterval(signal['timer']);
      await expectWithin(500, async () => {
        const { id, userId } = await client.startNew();
        const response = client.call('GET', `${path.replace('{userId}', userId)}${id}?wait=20`);
        await waitForHeld(1);
        const beganAt = performance.now();
        await change(id);
        expect((await response).body).toMatchObject({ id, state: 'awaiting_installation' });
        return msSince(beganAt);
      });
      signal['timer'] = setInterval(() => signal.signal(), 1_000);
    },
  );

  it('continues while the states cannot be read, because the database is unavailable', async () => {
    const { id } = await client.startNew();
    const response = client.session(id, '?wait=20');
    await waitForHeld(1);
    const failing = jest
      .spyOn(service.app.get(SessionViewsStore), 'findWatchedStates')
      .mockRejectedValueOnce(new Error('the database is unavailable'));
    const sessions = service.app.get<{ checks: { run(): Promise<void> } }>(SessionsService);
    await expect(sessions.checks.run()).resolves.toBeUndefined();
    expect(failing).toHaveBeenCalled();
    await change(id);
    expect((await response).state).toBe('awaiting_installation');
    failing.mockRestore();
  });

  it('returns the unchanged session after the given time', async () => {
    await expectWithin(2_500, async () => {
      const { id } = await client.startNew();
      const beganAt = performance.now();
      expect((await client.session(id, '?wait=1')).state).toBe('awaiting_owner');
      expect(msSince(beganAt)).toBeGreaterThan(950);
      return msSince(beganAt);
    });
  });

  it('responds at once if the state differs from the given one, or changes right after the request', async () => {
    await expectWithin(1_500, async () => {
      const { id } = await client.startNew();
      const beganAt = performance.now();
      expect((await client.session(id, '?wait=20&from=online')).state).toBe('awaiting_owner');
      const response = client.session(id, '?wait=20&from=awaiting_owner');
      await change(id);
      expect((await response).state).toBe('awaiting_installation');
      return msSince(beganAt);
    });
  });

  it('does not wait for a closed session, and stops when the session is closed', async () => {
    await expectWithin(2_500, async () => {
      const { id } = await client.startNew();
      const response = client.session(id, '?wait=20');
      await waitForHeld(1);
      const beganAt = performance.now();
      await database.query('DELETE FROM session_polls WHERE session_id = $1', [id]);
      await database.query(
        `UPDATE onboarding_sessions SET closed_at = clock_timestamp(), close_reason = 'late_window_over', start_url_ciphertext = NULL WHERE id = $1`,
        [id],
      );
      expect((await response).closedAt).not.toBeNull();
      expect((await client.session(id, '?wait=20')).closedAt).not.toBeNull();
      return msSince(beganAt);
    });
  });

  it('ends when the client disconnects', async () => {
    const { id } = await client.startNew();
    const disconnect = new AbortController();
    const response = fetch(`${service.url}/api/v1/onboarding/pv/${id}?wait=60`, {
      headers: { authorization: `Bearer ${service.adminKey}` },
      signal: disconnect.signal,
    }).catch(() => 'disconnected');
    await waitForHeld(1);
    disconnect.abort();
    expect(await response).toBe('disconnected');
    await waitForHeld(0);
  });

  it('ends within 5 s of the revocation of its key, with a 401', async () => {
    const { id } = await client.startNew();
    await expectWithin(5_000, async () => {
      const key = await createKey(client, 'onboarding:read');
      const response = key.app.call('GET', `/onboarding/pv/${id}?wait=20`);
      await waitForHeld(1);
      const beganAt = performance.now();
      await client.call('DELETE', `/api-keys/${key.id}`);
      expect(await response).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
      return msSince(beganAt);
    });
  });
});

describe('the sequence of a session', () => {
  const eventsOf = async (id: string) => (await client.events()).filter(({ subject }) => subject === id);

  it('is that of its own event in the response to a start, a refresh and a read with maxAge', async () => {
    const lastOf = async (id: string) => (await eventsOf(id)).at(-1)!.sequence;
    for (let nth = 0; nth < 5; nth++) {
      const started = await client.startNew();
      expect(started.sequence).toBe(await lastOf(started.id));
      await sandbox.complete(started.id, { onlineAfterMs: null });
      const completed = await client.session(started.id, '?maxAge=0');
      expect(completed).toMatchObject({
        state: 'awaiting_installation',
        sequence: await lastOf(started.id),
      });
      await sandbox.online(started.id, { inverters: 1 });
      const online = (await refresh(started.id)).body;
      expect(online).toMatchObject({ state: 'online', sequence: await lastOf(started.id) });
    }
  });

  it('orders responses and events: a response contains every event up to its sequence', async () => {
    const RANK = ['awaiting_owner', 'awaiting_installation', 'online'];
    const { id } = await client.startNew();
    const responses: SessionAnswer[] = [await client.session(id)];
    let isDone = false;
    const reading = (async () => {
      while (!isDone) responses.push(await client.session(id));
    })();
    await sandbox.complete(id, { onlineAfterMs: null });
    await refresh(id);
    await sandbox.online(id, { inverters: 1 });
    await refresh(id);
    const events = await eventsOf(id);
    responses.push(await client.session(id));
    isDone = true;
    await reading;
    const contains = (read: SessionAnswer, upTo: string) =>
      events
        .filter(({ sequence }) => sequence <= upTo)
        .every(({ data }) => RANK.indexOf(data.state as string) <= RANK.indexOf(read.state));
    expect(responses.filter((read) => !contains(read, read.sequence ?? ''))).toEqual([]);
    expect(new Set(responses.map(({ state }) => state)).has('awaiting_owner')).toBe(true);
  });
});

describe('a session whose remote service answers now from one replica, now from one that lags behind', () => {
  const ONLINE = { finished: true, active: false };
  it.each<[string, object, string[]]>([
    ['before the update by the owner', {}, ['session.awaiting_installation']],
    ['before it expired', { expired: true, active: false }, ['session.expired']],
    [
      'before its inverter',
      { ...ONLINE, inverters: [{ id: randomUUID() }] },
      ['session.online', 'inverter.online'],
    ],
  ])('moves once, and not back: %s', async (_, set, events) => {
    const { id } = await client.startNew();
    const updatedAt = new Date(Date.now() + 60_000).toISOString();
    for (let nth = 0; nth < 4; nth++) {
      await sandbox.fields(id, { set: { ...set, updatedAt } });
      await refresh(id);
      const { state, updatedAt: newest } = await client.session(id);
      await sandbox.fields(id);
      const older = (await refresh(id)).body;
      expect(older).toMatchObject({ state, updatedAt: newest, nextCheckAt: expect.any(String) });
      expect(older.inverters.map(({ missingSince }) => missingSince)).toEqual(
        older.inverters.map(() => null),
      );
    }
    expect(await client.eventsOf(id)).toEqual(['session.started', ...events]);
  });

  it('follows the one that lags behind once all responses have long been older', async () => {
    const { id } = await client.startNew();
    await sandbox.fields(id, { set: { expired: true, active: false, updatedAt: '2999-01-01T00:00:00Z' } });
    await refresh(id);
    await sandbox.fields(id);
    const states: string[] = [];
    for (const days of [0, 0, 1]) {
      await database.query(
        `UPDATE session_polls SET older_since = older_since - $2 * interval '1 day' WHERE session_id = $1`,
        [id, days],
      );
      states.push((await refresh(id)).body.state);
    }
    expect(states).toEqual(['expired', 'expired', 'awaiting_installation']);
  });
});

describe('the timeline of a session', () => {
  it('has everything that happened, with causes before effects, page by page', async () => {
    const { id } = await client.startNew();
    await sandbox.online(id, { inverters: 1 });
    await refresh(id);
    const { body } = await client.call<Page<TimelineEntryView>>('GET', `/onboarding/pv/${id}/timeline`);
    expect(body.items.map(({ kind }) => kind)).toEqual([
      'start',
      'observation',
      'transition',
      'event',
      'observation',
      'transition',
      'event',
      'event',
    ]);
    expect(body.items[5]).toMatchObject({
      summary: 'awaiting_owner -> online (observed, by the rule finished_with_inverters)',
      details: { fromState: 'awaiting_owner', toState: 'online', basis: 'observed' },
    });
    const paged: TimelineEntryView[] = [];
    for (let next: string | null = ''; next !== null;) {
      const path = `/onboarding/pv/${id}/timeline?limit=3${next && `&cursor=${next}`}`;
      const page: Page<TimelineEntryView> = (await client.call<Page<TimelineEntryView>>('GET', path)).body;
      paged.push(...page.items);
      ({ next } = page);
    }
    expect(paged).toEqual(body.items);
    expect((await client.call('GET', `/onboarding/pv/${randomUUID()}/timeline`)).status).toBe(404);
  });
});

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { PollsStore } from '../../../src/onboarding/poll/polls.store.js';
import { SessionRefreshService } from '../../../src/onboarding/poll/refresh.service.js';
import { SessionsStore } from '../../../src/onboarding/store/sessions.store.js';
import { Database } from '../../../src/platform/database/database.js';
import { HeldRequests } from '../../../src/platform/http/held-requests.js';
import { TestClient, type SessionAnswer } from '../../setup/client.js';
import type { SandboxControl } from '../../setup/sandbox-control.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

let service: TestApp;
let client: TestClient;
let sandbox: SandboxControl;

beforeEach(async () => {
  // No poller runs: only the test reads sessions.
  service = await startTestApp({ ROLE: 'api' });
  client = TestClient.of(service);
  sandbox = service.sandbox!.control;
});
afterEach(() => service.close());

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
  const look = jest.spyOn(polls, 'claimOne');
  const read = refresh(id);
  await waitFor('ten looks', () => Promise.resolve(look.mock.calls.length >= 10));
  const beganAt = performance.now();
  await waitFor('two more', () => Promise.resolve(look.mock.calls.length >= 12));
  expect(performance.now() - beganAt).toBeGreaterThan(900);
  await service.app.get(Database).query('DELETE FROM poll_batches');
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
    });

    it('is not stale if it is young enough, was read, or is read during the wait', async () => {
      const { id, userId } = await client.startNew();
      expect((await read(id, userId, '?maxAge=0&stale=allow')).body.stale).toBe(false);
      expect((await read(id, userId, '')).body).not.toHaveProperty('stale');
      await fail();
      expect((await read(id, userId, '?maxAge=3600&stale=allow')).body.stale).toBe(false);
      expect((await read(id, userId, '?stale=allow')).body.stale).toBe(false);
      const waiting = read(id, userId, '?maxAge=0&stale=allow&wait=20');
      await waitFor('it to wait', () => service.app.get(HeldRequests).count('wait') === 1);
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
    await service.app.get(Database).query(
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
    const sessions = service.app.get(SessionsStore);
    const reschedule = sessions['reschedule'].bind(sessions);
    let stopped: Promise<void> | undefined;
    sessions['reschedule'] = async (tx, moves) => {
      await reschedule(tx, moves);
      const waiting = await lockWaits();
      stopped = service.app.get(PollsStore).stopWatchingClosed(id, '0');
      // Waits until `stopWatchingClosed` waits for a lock of this transaction, or has ended.
      await Promise.race([stopped, waitFor('it waits', async () => (await lockWaits()) > waiting)]);
    };
    expect((await refresh(id)).body).toMatchObject({ state: 'online', closedAt: null });
    await stopped;
    expect((await client.session(id)).nextCheckAt).toEqual(expect.any(String));
  });

  async function lockWaits(): Promise<number> {
    const [row] = await service.app
      .get(Database)
      .query<{ waits: number }>(
        `SELECT count(*)::int AS waits FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
    return row!.waits;
  }
});

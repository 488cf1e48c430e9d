import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { EventSignal } from '../../../src/events/event-signal.service.js';
import { appendEvents } from '../../../src/events/outbox.js';
import { Database } from '../../../src/platform/database/database.js';
import { HeldRequests } from '../../../src/platform/http/held-requests.js';
import { sessionEvent } from '../../db/events/fixture.js';
import { inTime, measureUntil } from '../../faults/support/promise.js';
import { TestClient } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { createKey } from '../keys.js';

let service: TestApp;
let client: TestClient;

beforeAll(async () => {
  // No poller runs: only the test changes states.
  service = await startTestApp({ ROLE: 'api' });
  client = TestClient.of(service);
});
afterAll(() => service.close());
afterEach(() => void jest.restoreAllMocks());

const held = () => service.app.get(HeldRequests);
const waitForHeld = (count: number) =>
  waitFor(`${count} requests that wait`, () => held().count('wait') === count);
const msSince = (beganAt: number): number => performance.now() - beganAt;

const change = (id: string) =>
  service.app.get(Database).transaction(async (tx) => {
    await tx.query(
      `UPDATE onboarding_sessions SET state = 'awaiting_installation', basis = 'inferred' WHERE id = $1`,
      [id],
    );
    await appendEvents(tx, [sessionEvent('session.awaiting_installation', id)]);
  });

async function expectWithin(mostMs: number, measure: () => Promise<number>): Promise<void> {
  expect(await measureUntil((ms) => ms < mostMs, measure)).toBeLessThan(inTime(mostMs));
}

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
      const database = service.app.get(Database);
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

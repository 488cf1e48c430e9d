import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TestClient, type SessionAnswer } from '../setup/client.js';
import type { SandboxControl } from '../setup/sandbox-control.js';
import { startTestApp, type TestApp } from '../setup/test-app.js';
import { waitFor } from '../setup/wait-for.js';

let service: TestApp;
let client: TestClient;
let sandbox: SandboxControl;

beforeEach(async () => {
  // Nobody polls: a session is read when the test says so.
  service = await startTestApp({ ROLE: 'api' });
  client = TestClient.of(service);
  sandbox = service.sandbox!.control;
});
afterEach(() => service.close());

const refresh = (id: string) => client.call<SessionAnswer>('POST', `/onboarding/pv/${id}/refresh`);
const readsOf = async (id: string) => (await sandbox.ledger()).reads[id] ?? { total: 0, inFlight: 0 };

describe('a session that many ask for at once', () => {
  it('is read about once', async () => {
    const { id } = await client.startNew();
    await sandbox.change({ latencyMs: 500 });
    const asFreshAsCanBe = () => client.call('GET', `/onboarding/pv/${id}?maxAge=0`);
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => (i % 4 === 0 ? asFreshAsCanBe() : refresh(id))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    // One that the first asked for, one for those who came while it was in flight; a third where requests arrive slowly.
    expect((await readsOf(id)).total).toBeLessThanOrEqual(3);
  });

  it('is never answered from a read that was sent before the request', async () => {
    const { id } = await client.startNew();
    // Reads the session as it is now, and answers so later.
    const { id: fault } = await sandbox.addFault({ kind: 'hold', operation: 'read_session' });
    const early = refresh(id);
    await waitFor('the first read', async () => (await readsOf(id)).inFlight === 1);
    await sandbox.online(id);
    const late = Promise.all([refresh(id), refresh(id)]);
    await sandbox.release(fault);
    expect((await early).body.state).toBe('awaiting_owner');
    expect((await late).map(({ body }) => body.state)).toEqual(['online', 'online']);
  });

  it('shares a failure as well, and reads again for the next', async () => {
    const { id } = await client.startNew();
    await sandbox.addFault({ kind: 'answer', status: 404, operation: 'read_session', times: null });
    const answers = await Promise.all([refresh(id), refresh(id), refresh(id)]);
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
    await sandbox.clearFaults();
    expect((await refresh(id)).status).toBe(200);
  });
});

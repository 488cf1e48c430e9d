import { beforeEach, describe, expect, it } from '@jest/globals';
import { FAULT_KINDS } from '../../../sandbox/faults.js';
import type { RawClient } from '../../contract/raw-client.js';
import type { SandboxFault } from '../../setup/sandbox/sandbox-control.js';
import {
  authorisedClientOf,
  startRemoteSession,
  type StartedSession,
  useSandbox,
} from '../../setup/sandbox/sandbox-client.js';
import { waitFor } from '../../setup/wait-for.js';
import { waitUntilHeld } from '../../faults/support/waits.js';

describe('the control API of the sandbox', () => {
  const sandbox = useSandbox();
  let client: RawClient;
  let session: StartedSession;
  beforeEach(async () => {
    await sandbox.control.reset();
    client = await authorisedClientOf(sandbox);
    session = await startRemoteSession(client);
  });

  const read = async () => JSON.parse((await client.read(session.sessionId)).text);

  describe('faults', () => {
    it.each([
      [{ kind: 'reset' }, 0],
      [{ kind: 'reset', effect: true }, 1],
      [{ kind: 'truncate' }, 1],
      [{ kind: 'answer', status: 503, effect: true }, 1],
      [{ kind: 'answer', status: 503 }, 0],
      [{ kind: 'html' }, 0],
      [{ kind: 'redirect', location: 'http://127.0.0.1:9/' }, 0],
      [{ kind: 'too_many_requests', retryAfter: '7' }, 0],
    ] satisfies [SandboxFault, number][])(
      '%j on a registration leaves %i effects',
      async (fault, effects) => {
        await sandbox.control.addFault({ ...fault, operation: 'register_user' });
        // Some of these faults suppress the response, so the test checks the ledger instead.
        await client.register('A-2', ['541448860000000013']).catch(() => undefined);
        const { users } = await sandbox.control.ledger();
        expect(users.filter(({ tenantReference }) => tenantReference === 'A-2')).toHaveLength(effects);
      },
    );
  });

  it('refuses requests beyond the limit, and counts them', async () => {
    const { control } = sandbox;
    await control.change({ maxInFlight: 3, overloadStatus: 503, overloadRetryAfter: '5' });
    await control.addFault({ kind: 'hold', operation: 'read_session', times: 3 });
    const reads = (count: number) =>
      Promise.all(Array.from({ length: count }, () => client.read(session.sessionId)));
    const held = reads(3);
    await waitUntilHeld(control, 3);
    expect((await reads(2)).map(({ status }) => status)).toEqual([503, 503]);
    await control.clearFaults();
    expect((await held).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await sandbox.control.ledger()).toMatchObject({ turnedAway: 2 });
  });

  it('counts requests and the concurrent reads of one session', async () => {
    await sandbox.control.addFault({ kind: 'hold', operation: 'read_session', times: null });
    const other = await startRemoteSession(client);
    const reads = Promise.all([
      client.read(session.sessionId),
      client.readOfUser(session.userId, session.sessionId),
      client.read(other.sessionId),
    ]);
    await waitFor('the reads', async () => (await sandbox.control.ledger()).inFlight === 3);
    await sandbox.control.clearFaults();
    await reads;
    await waitFor('the reads to be over', async () => (await sandbox.control.ledger()).inFlight === 0);
    const ledger = await sandbox.control.ledger();
    expect(ledger.reads[session.sessionId]).toEqual({ total: 2, inFlight: 0, maxInFlight: 2 });
    expect(ledger.reads[other.sessionId]).toEqual({ total: 1, inFlight: 0, maxInFlight: 1 });
    expect(ledger).toMatchObject({ maxConcurrentReadsOfOneSession: 2, maxInFlight: 3 });
    expect(ledger.sessions.map(({ sessionId }) => sessionId)).toEqual([session.sessionId, other.sessionId]);
    expect(ledger.requests).toMatchObject({
      'POST /api/v1/ssa/oauth/token': 1,
      'POST /api/v1/ssa/users': 2,
      'GET /api/v1/ssa/onboarding/pv/:sessionId': 2,
    });
    expect(await sandbox.control.requests()).toContainEqual(
      expect.objectContaining({ operation: 'read_session', status: 200 }),
    );
  });

  it('refuses a page of another site', async () => {
    const response = await fetch(`${sandbox.url}/sandbox/reset`, {
      method: 'POST',
      headers: { origin: 'https://elsewhere.example' },
    });
    expect(response.status).toBe(403);
  });

  it('performs the actions of the buttons on the index page', async () => {
    for (const action of ['brand', 'sign-in', 'complete', 'online', 'remove-inverter', 'expire']) {
      const response = await fetch(`${sandbox.url}/play/${session.sessionId}/${action}`, { method: 'POST' });
      expect([response.status, await response.text()]).toEqual([
        200,
        expect.stringContaining(session.sessionId),
      ]);
    }
    expect(await read()).toMatchObject({ finished: true, active: false, expired: true, inverters: [] });
  });

  it('finds a customer by reference, EAN or id, and shows 50 rows a page', async () => {
    await sandbox.control.seed(60);
    const open = async (query: string) => (await fetch(`${sandbox.url}/?${query}`)).text();
    const customers = (text: string) =>
      [...text.matchAll(/<strong>(seed-\d+)<\/strong>/g)].map(([, name]) => name);
    const first = customers(await open('q=SEED-'));
    const second = customers(await open('q=SEED-&start=50'));
    expect([first.length, new Set([...first, ...second]).size]).toEqual([50, 60]);
    const one = (await sandbox.control.users()).find(({ tenantReference }) => tenantReference === first[7])!;
    for (const q of [one.gridLocations[0]!.ean, one.id, one.gridLocations[0]!.id])
      expect(customers(await open(`q=${q}`))).toEqual([first[7]]);
    expect(await open('q=%3Cnone%3E')).toContain('None has this reference, EAN or id.');
  });

  it('makes requests fail by the buttons of the index page, until they are cleared', async () => {
    const press = async (kind: string) => {
      const body = new URLSearchParams({ kind, operation: 'read_session' });
      const response = await fetch(`${sandbox.url}/play/faults`, { method: 'POST', body });
      return (await response.text()).includes('<td>read_session</td>');
    };
    for (const kind of FAULT_KINDS) expect([kind, await press(kind)]).toEqual([kind, true]);
    expect(await press('')).toBe(false);
  });
});

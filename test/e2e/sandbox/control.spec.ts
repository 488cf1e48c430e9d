import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { RawClient } from '../../contract/raw-client.js';
import type { SandboxFault } from '../../setup/sandbox-control.js';
import { authorisedClientOf, startRemoteSession, type StartedSession } from '../../setup/sandbox-client.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox.js';
import { waitFor } from '../../setup/wait-for.js';

describe('the control API of the sandbox', () => {
  let sandbox: TestSandbox;
  let client: RawClient;
  let session: StartedSession;
  beforeAll(async () => {
    sandbox = await startSandbox();
  });
  afterAll(async () => void (await sandbox.stop()));
  beforeEach(async () => {
    await sandbox.control.reset();
    client = await authorisedClientOf(sandbox);
    session = await startRemoteSession(client);
  });

  const read = async () => JSON.parse((await client.read(session.sessionId)).text);

  describe('sessions', () => {
    it('completes the web flow, brings inverters online, and adds and removes one', async () => {
      const { control } = sandbox;
      const start = await read();
      await control.complete(session.sessionId);
      const completed = await read();
      expect(completed).toEqual({ ...start, updatedAt: completed.updatedAt });
      expect(completed.updatedAt).not.toBe(start.updatedAt);
      await control.online(session.sessionId, { inverters: ['a', 'b'] });
      expect(await read()).toMatchObject({
        finished: true,
        active: false,
        inverters: [{ id: 'a' }, { id: 'b' }],
      });
      await control.online(session.sessionId, { inverters: ['c'] });
      await control.removeInverter(session.sessionId, 'a');
      expect(await read()).toMatchObject({ inverters: [{ id: 'b' }, { id: 'c' }] });
    });

    it('lists inverters while finished is still false', async () => {
      await sandbox.control.online(session.sessionId, { inverters: 2, finished: false });
      const { finished, active, inverters } = await read();
      expect({ finished, active, count: inverters.length }).toEqual({
        finished: false,
        active: true,
        count: 2,
      });
    });

    it('expires a session, and brings an expired one online', async () => {
      await sandbox.control.expire(session.sessionId);
      expect(await read()).toMatchObject({ finished: false, active: false, expired: true });
      await sandbox.control.online(session.sessionId);
      expect(await read()).toMatchObject({ finished: true, active: false, expired: true });
    });

    it('deletes a session: 404 on both paths', async () => {
      await sandbox.control.deleteSession(session.sessionId);
      expect(await client.read(session.sessionId)).toMatchObject({ status: 404 });
      expect(await client.readOfUser(session.userId, session.sessionId)).toMatchObject({ status: 404 });
    });

    it('replaces and omits fields, and restores them', async () => {
      const set = { finished: 'yes', inverters: null, extra: 1 };
      await sandbox.control.fields(session.sessionId, { set, absent: ['active'] });
      const overridden = await read();
      expect(overridden).toMatchObject(set);
      expect(overridden).not.toHaveProperty('active');
      await sandbox.control.fields(session.sessionId);
      expect(await read()).toMatchObject({ finished: false, active: true, inverters: [] });
    });

    it('runs a scenario, for one session or for every new one', async () => {
      await sandbox.control.scenario(session.sessionId, 'happy', 3_000);
      await waitFor('the session to be online', async () => (await read()).finished);
      await sandbox.control.change({ scenario: 'lost', speed: 1_000_000 });
      const next = await startRemoteSession(client);
      await waitFor('the session to be lost', async () => (await client.read(next.sessionId)).status === 404);
    });
  });

  describe('faults', () => {
    const readFailing = () =>
      client.read(session.sessionId).then(
        ({ status }) => status,
        () => 'failed',
      );

    it('send a given response to `times` requests of an operation, after `skip` unaffected ones', async () => {
      await sandbox.control.addFault({
        kind: 'answer',
        operation: 'read_session',
        skip: 1,
        times: 2,
        status: 418,
        headers: { 'x-kind': 'teapot' },
        body: 'short and stout',
      });
      const statuses = [];
      for (let count = 0; count < 4; count += 1) statuses.push((await client.read(session.sessionId)).status);
      expect(statuses).toEqual([200, 418, 418, 200]);
    });

    it('affect only requests that contain a text', async () => {
      await sandbox.control.addFault({ kind: 'answer', status: 500, contains: 'B-2', times: null });
      expect(await client.register('A-2', ['541448860000000013'])).toMatchObject({ status: 200 });
      expect(await client.register('B-2', ['541448860000000013'])).toMatchObject({ status: 500 });
      expect(await client.read(session.sessionId)).toMatchObject({ status: 200 });
    });

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

    it('reset, truncate and stall, so that no response is complete', async () => {
      for (const kind of ['reset', 'truncate'] as const) {
        await sandbox.control.addFault({ kind, operation: 'read_session' });
        expect(await readFailing()).toBe('failed');
      }
      for (const after of ['nothing', 'headers', 'half'] as const) {
        await sandbox.control.addFault({ kind: 'stall', after, effect: true, operation: 'read_session' });
        const url = `${sandbox.url}/api/v1/ssa/onboarding/pv/${session.sessionId}`;
        const stalled = fetch(url, { headers: client.authorised, signal: AbortSignal.timeout(300) }).then(
          (response) => response.text(),
        );
        await expect(stalled).rejects.toThrow(/abort|timeout/i);
      }
    });

    it.each(['headers', 'body'] as const)('drip a complete response, from its %s on', async (from) => {
      const whole = await client.read(session.sessionId);
      await sandbox.control.addFault({
        kind: 'drip',
        operation: 'read_session',
        from,
        intervalMs: 2,
        chunkBytes: 8,
      });
      expect(await client.read(session.sessionId)).toEqual(whole);
    });

    it('hold a response unchanged until it is released', async () => {
      const fault = await sandbox.control.addFault({ kind: 'hold', operation: 'read_session' });
      const held = client.read(session.sessionId);
      await waitFor('the read to be held', async () => (await sandbox.control.faults())[0]?.holding === 1);
      await sandbox.control.online(session.sessionId);
      expect(await read()).toMatchObject({ finished: true });
      await sandbox.control.release(fault.id);
      expect(JSON.parse((await held).text)).toMatchObject({ finished: false });
    });

    it('send large bodies of any bytes', async () => {
      const bodyBase64 = Buffer.from([0xff, 0x00]).toString('base64');
      await sandbox.control.addFault({ kind: 'answer', bodyBase64, repeat: 1_000_000 });
      const response = await fetch(`${sandbox.url}/api/v1/ssa`, { headers: client.authorised });
      const bytes = Buffer.from(await response.arrayBuffer());
      expect([bytes.length, bytes[0], bytes[1]]).toEqual([2_000_000, 0xff, 0x00]);
    });
  });

  it('refuses requests beyond the limit, and counts them', async () => {
    const { control } = sandbox;
    await control.change({ maxInFlight: 3, overloadStatus: 503, overloadRetryAfter: '5' });
    await control.addFault({ kind: 'hold', operation: 'read_session', times: 3 });
    const reads = (count: number) =>
      Promise.all(Array.from({ length: count }, () => client.read(session.sessionId)));
    const held = reads(3);
    await waitFor('the reads to be held', async () => (await control.faults())[0]?.holding === 3);
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

  it('creates users and sessions in bulk, which the remote interface serves', async () => {
    const [seeded] = await sandbox.control.seed(3);
    expect(await client.readOfUser(seeded?.userId ?? '', seeded?.sessionId ?? '')).toMatchObject({
      status: 200,
    });
  });

  it.each([
    ['/faults', {}, 'kind is missing'],
    ['/faults', { kind: 'reset', operation: 'delete' }, 'operation must be one of'],
    ['/faults', { kind: 'reset', tiems: 2 }, 'tiems is not known'],
    ['/faults', [], 'must be a JSON object'],
    ['/seed', { users: '3' }, 'users must be a whole number'],
  ])('refuses POST %s %j and names the fault', async (path, body, message) => {
    const response = await fetch(`${sandbox.url}/sandbox${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(message)]);
  });

  it('refuses a page of another site', async () => {
    const response = await fetch(`${sandbox.url}/sandbox/reset`, {
      method: 'POST',
      headers: { origin: 'https://elsewhere.example' },
    });
    expect(response.status).toBe(403);
  });

  it('performs the actions of the buttons on the index page', async () => {
    for (const action of ['complete', 'online', 'remove-inverter', 'expire']) {
      const response = await fetch(`${sandbox.url}/play/${session.sessionId}/${action}`, { method: 'POST' });
      expect([response.status, await response.text()]).toEqual([
        200,
        expect.stringContaining(session.sessionId),
      ]);
    }
    expect(await read()).toMatchObject({ finished: true, active: false, expired: true, inverters: [] });
  });
});

import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { AuthorisedRemote } from '../../../src/auth/authorised-remote.service.js';
import type { EventPayloads } from '../../../src/events/catalogue.rules.js';
import type { StartView } from '../../../src/starts/start.view.js';
import { FIND_HINDRANCE } from '../../../src/onboarding/start/starts.sql.js';
import { Database } from '../../../src/platform/database/database.js';
import type { Sent } from '../../../src/remote/outcome.rules.js';
import { TestClient, type SessionAnswer } from '../../setup/client.js';
import type { SandboxControl, SandboxFault } from '../../setup/sandbox/sandbox-control.js';
import { refuseRows } from '../../setup/database/refuse-rows.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

const service = useTestApp();
const client = TestClient.of(service);
let sandbox: SandboxControl;
let database: Database;

beforeAll(() => {
  sandbox = service.sandbox!.control;
  database = service.database;
});
afterEach(() => sandbox.clearFaults());

const startsOf = async (gridLocationId: string) =>
  (await sandbox.ledger()).sessions.filter((effect) => effect.gridLocationId === gridLocationId);

async function bringOnline({ id }: Pick<SessionAnswer, 'id'>): Promise<SessionAnswer> {
  await sandbox.online(id, { inverters: 1 });
  return client.untilState(id, 'online');
}

const BRAND = { brand: 'acme' };

async function startOnline(): Promise<SessionAnswer> {
  return bringOnline(await client.startNew(BRAND));
}

type Listed = Omit<StartView, 'createdAt' | 'updatedAt'> & Record<'createdAt' | 'updatedAt', string>;

const list = async (query: string) =>
  (await client.call<{ items: Listed[]; next: string | null }>('GET', `/onboarding/starts?${query}`)).body;

const failuresOf = async (gridLocationId: string) =>
  (await client.events())
    .filter(({ type, subject }) => type === 'pv.session.start_failed.v1' && subject === gridLocationId)
    .map(({ data }) => data as EventPayloads['session.start_failed']);

/** Makes the remote service respond with this fault to the starts of a location. */
const respond = (contains: string, fault: Omit<SandboxFault, 'operation'>): Promise<unknown> =>
  sandbox.addFault({ operation: 'start_session', contains, ...fault });

describe('starting a session', () => {
  it('returns the session with its startUrl, under the remote id', async () => {
    const gridLocationId = await client.locate('customer 1');
    // Holds the first read, so that `expired` stays null. The read would set it to false.
    await sandbox.addFault({ kind: 'hold', operation: 'read_session', times: null });
    const { status, headers, body } = await client.start(gridLocationId, {
      brand: 'acme',
      metadata: { campaign: 7 },
    });
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/api/v1/onboarding/pv/${body.id}`);
    expect(body).toMatchObject({
      gridLocationId,
      tenantReference: 'customer 1',
      brand: 'acme',
      metadata: { campaign: 7 },
      state: 'awaiting_owner',
      basis: 'observed',
      finished: false,
      active: true,
      expired: null,
      inverters: [],
      closedAt: null,
    });
    expect(body.startUrl).toMatch(/\/pv-onboarding\/.+/);
    expect((await startsOf(gridLocationId)).map(({ sessionId }) => sessionId)).toEqual([body.id]);
    expect(await client.eventsOf(body.id)).toEqual(['session.started']);
  });

  it('has one session for all spellings of a brand between which nobody sees a difference', async () => {
    const { id, gridLocationId, brand } = await client.startNew({ brand: 'Cafe\u0301\u00a0 Sol' });
    expect(brand).toBe('Caf\u00e9 Sol');
    expect((await client.start(gridLocationId, { brand: 'Caf\u00e9 Sol' })).body.id).toBe(id);
    const path = `/onboarding/pv?gridLocationId=${gridLocationId}&brand=${encodeURIComponent('Cafe\u0301 Sol')}`;
    expect((await client.call('GET', path)).body.items).toMatchObject([{ id }]);
  });

  it('returns the open session again, except for another brand or without reuse', async () => {
    const first = await client.startNew({ brand: 'acme' });
    const again = await client.start(first.gridLocationId, { brand: 'acme' });
    expect([again.status, again.body.id, again.body.startUrl]).toEqual([200, first.id, first.startUrl]);
    const other = await client.start(first.gridLocationId, { brand: 'other' });
    const without = await client.start(first.gridLocationId);
    const renewed = await client.start(first.gridLocationId, { brand: 'acme', reuse: false });
    expect([other.status, without.status, renewed.status]).toEqual([201, 201, 201]);
    expect(new Set([first.id, other.body.id, without.body.id, renewed.body.id]).size).toBe(4);
    const reused = await client.start(first.gridLocationId, { brand: 'acme' });
    expect(reused.body.id).toBe(renewed.body.id);
  });

  describe('with an Idempotency-Key', () => {
    const startWith = (gridLocationId: string, key: string, body?: object) =>
      client.call<SessionAnswer & { code: string }>('POST', `/onboarding/pv/${gridLocationId}`, body, {
        'idempotency-key': key,
      });
    const further = { ...BRAND, reuse: false };
    /** Leaves of a request what is left when its process dies before the response. */
    const forget = () => database.query('DELETE FROM idempotency_keys');

    it('and without reuse, starts another session once', async () => {
      const { gridLocationId, id } = await startOnline();
      const first = await startWith(gridLocationId, 'a', further);
      const repeated = await startWith(gridLocationId, 'a', further);
      const other = await startWith(gridLocationId, 'b', further);
      const last = await startWith(gridLocationId, 'a', further);
      expect([first, repeated, other, last].map(({ status }) => status)).toEqual([201, 201, 201, 201]);
      expect([repeated.body.id, last.body.id]).toEqual([first.body.id, first.body.id]);
      expect(new Set([id, first.body.id, other.body.id]).size).toBe(3);
      expect(await startsOf(gridLocationId)).toHaveLength(3);
    });

    it('starts one session, also if the repetition comes while the first request waits', async () => {
      const gridLocationId = await client.locate();
      await respond(gridLocationId, { kind: 'delay', delayMs: 500 });
      const both = await Promise.all([1, 2].map(() => startWith(gridLocationId, 'c', { reuse: false })));
      expect(new Set(both.map(({ body }) => body.id)).size).toBe(1);
      expect(await startsOf(gridLocationId)).toHaveLength(1);
    });

    it('starts a session of its own after a first request that was refused', async () => {
      const gridLocationId = await client.locate();
      await respond(gridLocationId, { kind: 'answer', status: 409, effect: false });
      const started = [];
      for (const key of ['d', 'other', 'd', 'd'])
        started.push(await startWith(gridLocationId, key, { reuse: false }));
      expect(started.map(({ status }) => status)).toEqual([422, 201, 201, 201]);
      const [, other, first, repeated] = started.map(({ body }) => body.id);
      expect([repeated === first, other === first]).toEqual([true, false]);
    });

    it('starts another session with a key of the day before, of which an erasure leaves nothing', async () => {
      const gridLocationId = await client.locate();
      const start = () => startWith(gridLocationId, 'f', { reuse: false });
      const { body: first } = await start();
      await forget();
      await database.query(
        `UPDATE session_starts SET created_at = created_at - interval '24 hours' WHERE session_id = $1`,
        [first.id],
      );
      const { status, body } = await start();
      expect([status, body.id === first.id]).toEqual([201, false]);
      const findRequests = () =>
        database.query('SELECT FROM session_starts WHERE grid_location_id = $1 AND request IS NOT NULL', [
          gridLocationId,
        ]);
      expect(await findRequests()).toHaveLength(2);
      await client.call('DELETE', `/users/${first.userId}`);
      expect(await findRequests()).toEqual([]);
      expect(await database.query('SELECT FROM idempotency_keys WHERE subjects && $1', [[first.id]])).toEqual(
        [],
      );
    });

    it('returns the session that it has started before its process died', async () => {
      const gridLocationId = await client.locate();
      const start = () => startWith(gridLocationId, 'g', { reuse: false });
      const first = await start();
      await forget();
      const repeated = [await start(), await start()];
      expect(repeated.map(({ status, body }) => [status, body.id])).toEqual([
        [200, first.body.id],
        [200, first.body.id],
      ]);
    });

    it('shows the session as it is now, and its startUrl only while the flow is open', async () => {
      const gridLocationId = await client.locate();
      const start = () => startWith(gridLocationId, 'h', BRAND);
      const first = await start();
      const refresh = () =>
        client.call<SessionAnswer>('POST', `/onboarding/pv/${first.body.id}/refresh`, undefined, {
          'idempotency-key': 'h',
        });
      // A worker may have read it in between, which also writes `expired`.
      const { nextCheckAt, checkedAt, expired, ...again } = (await start()).body;
      const read = { nextCheckAt, checkedAt, expired };
      expect({ ...first.body, ...read }).toEqual({ ...again, ...read });
      expect(Date.parse(checkedAt)).toBeGreaterThanOrEqual(Date.parse(first.body.checkedAt));
      expect((await refresh()).body.startUrl).toBe(first.body.startUrl);
      await sandbox.online(first.body.id);
      await client.untilState(first.body.id, 'online');
      const { status, body } = await start();
      expect([status, body.id, body.state, body.startUrl]).toEqual([201, first.body.id, 'online', null]);
      expect((await refresh()).body).toMatchObject({ state: 'online', startUrl: null });
    });

    it('refuses the key with another body, and takes it without one', async () => {
      const gridLocationId = await client.locate();
      expect((await startWith(gridLocationId, 'e')).status).toBe(201);
      expect((await startWith(gridLocationId, 'e')).status).toBe(201);
      const { status, body } = await startWith(gridLocationId, 'e', further);
      expect([status, body.code]).toEqual([422, 'idempotency_key_reused']);
    });
  });

  it.each([
    [200, '1 s', '19 s'],
    [201, '11 s', '9 s'],
    [200, '0 s', '-1 day'],
    [201, '1 day', '-1 s'],
  ])('returns %i for a session started %s ago that expires in %s', async (status, startedAgo, expiresIn) => {
    const first = await client.startNew();
    // Waits for the first read, which also writes `expires_at`. Later reads write nothing.
    await waitFor('the first read', async () => (await client.session(first.id)).expired === false);
    await database.query(
      `UPDATE onboarding_sessions SET recorded_at = clock_timestamp() - $2::interval,
         expires_at = clock_timestamp() + $3::interval WHERE id = $1`,
      [first.id, startedAgo, expiresIn],
    );
    expect((await client.start(first.gridLocationId)).status).toBe(status);
  });

  it('starts once more when the response was lost, and counts the orphan', async () => {
    const gridLocationId = await client.locate();
    await sandbox.addFault({ kind: 'reset', operation: 'start_session', effect: true, times: 1 });
    const { status, body } = await client.start(gridLocationId);
    expect([status, body.state]).toEqual([201, 'awaiting_owner']);
    expect(body.startUrl).not.toBeNull();
    expect(await startsOf(gridLocationId)).toHaveLength(2);
    const [start] = await database.query(
      'SELECT status, attempts, orphans FROM session_starts WHERE grid_location_id = $1',
      [gridLocationId],
    );
    expect(start).toEqual({ status: 'started', attempts: 2, orphans: 1 });
  });

  it('leaves no start behind when the database fails between the lease and the call', async () => {
    const gridLocationId = await client.locate();
    const query = database.query.bind(database);
    const failing = jest.spyOn(database, 'query').mockImplementation((statement, values) => {
      if (statement === FIND_HINDRANCE) return Promise.reject(new Error('cut off'));
      return query(statement, values);
    });
    expect((await client.start(gridLocationId)).status).toBe(500);
    failing.mockRestore();
    expect((await client.start(gridLocationId)).status).toBe(201);
    const starts = await query('SELECT status, orphans FROM session_starts WHERE grid_location_id = $1', [
      gridLocationId,
    ]);
    expect(starts).toEqual([{ status: 'started', orphans: 0 }]);
  });
});

describe('a start for a location that is online', () => {
  it('returns the session that is online, without a startUrl and without a call, however often it is repeated', async () => {
    const online = await startOnline();
    const { id, gridLocationId } = online;
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => client.start(gridLocationId, { ...BRAND, metadata: { mail: 2 } })),
    );
    for (const { status, headers, body } of responses) {
      expect([status, headers.get('location')]).toEqual([200, `/api/v1/onboarding/pv/${id}`]);
      expect(body).toMatchObject({ id, state: 'online', startUrl: null, metadata: {} });
      expect(body.inverters).toHaveLength(1);
    }
    expect(await startsOf(gridLocationId)).toHaveLength(1);
  });

  it('returns the open session that was started on purpose, and again the online one once that is over', async () => {
    const online = await startOnline();
    const { gridLocationId } = online;
    const further = (await client.start(gridLocationId, { ...BRAND, reuse: false })).body;
    const again = await client.start(gridLocationId, BRAND);
    expect([again.status, again.body.id, again.body.startUrl]).toEqual([200, further.id, further.startUrl]);
    await sandbox.expire(further.id);
    await client.untilState(further.id, 'expired');
    const last = await client.start(gridLocationId, BRAND);
    expect([last.status, last.body.id]).toEqual([200, online.id]);
  });

  it('returns the session that came online late, not the open one that was started before', async () => {
    const late = await client.startNew(BRAND);
    await sandbox.expire(late.id);
    await client.untilState(late.id, 'expired');
    const second = await client.start(late.gridLocationId, BRAND);
    expect([second.status, second.body.state]).toEqual([201, 'awaiting_owner']);
    await bringOnline(late);
    const third = await client.start(late.gridLocationId, BRAND);
    expect([third.status, third.body.id, third.body.state]).toEqual([200, late.id, 'online']);
  });
});

describe('a start that has failed', () => {
  // A call that succeeds, so that the failures of these tests do not open the circuit breaker.
  beforeEach(() => client.startNew());

  it.each([
    [
      'answer',
      { kind: 'answer', status: 503, body: 'Ann is ill' },
      /responded with status 503, which does/,
      2,
    ],
    ['reset', { kind: 'reset', effect: true }, /it was sent, but its response was lost \(/, 2],
    ['html', { kind: 'html' }, /^the response with status 200 could not be read \(/, 1],
  ] as const)(
    'by %s says what happened, in the 503, the list and the event',
    async (_, fault, words, calls) => {
      const gridLocationId = await client.locate();
      await respond(gridLocationId, { ...fault, times: 2 });
      const { status, body } = await client.start(gridLocationId, { brand: 'acme' });
      const detail = (body as unknown as { detail: string }).detail;
      expect([status, detail]).toEqual([503, expect.stringMatching(/^The start has failed: /)]);
      const { items } = await list(`gridLocationId=${gridLocationId}`);
      expect(items).toMatchObject([
        { gridLocationId, brand: 'acme', status: 'failed', attempts: calls, orphans: calls, sessionId: null },
      ]);
      const [{ id, error, userId, tenantReference }] = items as [Listed];
      expect(error).toMatch(words);
      expect(detail).toBe(`The start has failed: ${error}`);
      expect(await failuresOf(gridLocationId)).toEqual([
        {
          startId: id,
          userId,
          gridLocationId,
          tenantReference,
          brand: 'acme',
          attempts: calls,
          orphans: calls,
          reason: error,
          failedAt: items[0]!.updatedAt,
        },
      ]);
    },
  );

  it('by an unreadable 201 is not sent again by each request, but after a wait that grows', async () => {
    const gridLocationId = await client.locate();
    const fault = { kind: 'answer', effect: true, status: 201, body: '{"session":"a1"}' } as const;
    await respond(gridLocationId, { ...fault, times: null });
    const start = async (body = {}) => {
      const {
        status,
        headers,
        body: problem,
      } = await client.start(gridLocationId, { brand: 'acme', ...body });
      const { detail } = problem as unknown as { detail: string };
      return { status, retryAfter: Number(headers.get('retry-after')), detail };
    };
    const first = await start();
    expect([first.status, first.retryAfter]).toEqual([503, 5]);
    for (const request of [{}, { reuse: false }, { metadata: { n: 1 } }]) {
      const again = await start(request);
      expect(again).toMatchObject({
        status: 503,
        detail: expect.stringMatching(/^The last start has failed: the response with status 201/),
      });
      expect(again.retryAfter).toBeLessThanOrEqual(5);
    }
    expect(await startsOf(gridLocationId)).toHaveLength(1);
    const pass = (ms: number) =>
      database.query(
        `UPDATE session_starts SET updated_at = updated_at - $2::float8 * interval '1 millisecond' WHERE grid_location_id = $1`,
        [gridLocationId, ms],
      );
    await pass(5_000);
    expect(await start()).toMatchObject({ status: 503, retryAfter: 10 });
    expect(await startsOf(gridLocationId)).toHaveLength(2);
    // Another brand has its own wait.
    await sandbox.clearFaults();
    expect((await client.start(gridLocationId, { brand: 'other' })).status).toBe(201);
    expect((await start()).status).toBe(503);
    await pass(10_000);
    expect((await start()).status).toBe(201);
    // A start that succeeds ends the wait.
    expect((await client.start(gridLocationId, { brand: 'acme', reuse: false })).status).toBe(201);
  });

  it('because the database refuses the session for good says so, and is not sent again at once', async () => {
    const gridLocationId = await client.locate();
    const accept = await refuseRows(
      database,
      'onboarding_sessions',
      `new.grid_location_id = '${gridLocationId}'`,
    );
    try {
      const error = 'the session was started, but could not be stored (SQLSTATE 42501)';
      const first = await client.start(gridLocationId);
      expect(first).toMatchObject({
        status: 503,
        body: { code: 'database_unavailable', detail: `The start has failed: ${error}` },
      });
      expect(first.headers.get('retry-after')).toBe('5');
      expect((await client.start(gridLocationId)).status).toBe(503);
      expect(await startsOf(gridLocationId)).toHaveLength(1);
      const { items } = await list(`gridLocationId=${gridLocationId}`);
      expect(items).toMatchObject([{ status: 'failed', attempts: 1, orphans: 1, error }]);
    } finally {
      await accept();
    }
  });

  it('because it was not sent counts an orphan only for the call before', async () => {
    const remote = service.app.get(AuthorisedRemote);
    const send = remote.send.bind(remote);
    const notSent: Sent = { kind: 'not_sent', reason: 'breaker_open' };
    const outcomes: Sent[] = [notSent, { kind: 'ambiguous', reason: 'read ECONNRESET' }, notSent];
    try {
      const gridLocationId = await client.locate();
      remote.send = (request, ...others) =>
        request.operation === 'start_session' ? Promise.resolve(outcomes.shift()!) : send(request, ...others);
      expect((await client.start(gridLocationId)).status).toBe(503);
      expect((await client.start(gridLocationId)).status).toBe(503);
      const { items } = await list(`gridLocationId=${gridLocationId}`);
      expect(items).toMatchObject([
        { attempts: 2, orphans: 1, error: expect.stringMatching(/^it was not sent \(breaker_open\)/) },
        { attempts: 1, orphans: 0 },
      ]);
      expect((await failuresOf(gridLocationId)).map(({ orphans }) => orphans)).toEqual([0, 1]);
    } finally {
      remote.send = send;
    }
  });
});

describe('listing starts', () => {
  it('returns the newest first, filters and pages, without a startUrl', async () => {
    const gridLocationId = await client.locate('customer with five');
    for (const brand of ['a', 'b', 'c', 'd']) await client.start(gridLocationId, { brand });
    await respond(gridLocationId, { kind: 'answer', status: 422, body: '{"error":"no"}', times: 1 });
    await client.start(gridLocationId, { brand: 'e' });
    // Returns the open session, so it does not count as a start.
    const { body: session } = await client.start(gridLocationId, { brand: 'd' });
    const first = await list(`gridLocationId=${gridLocationId}&limit=3`);
    const second = await list(`gridLocationId=${gridLocationId}&limit=3&cursor=${first.next}`);
    expect([first, second].map(({ items }) => items.map(({ brand }) => brand))).toEqual([
      ['e', 'd', 'c'],
      ['b', 'a'],
    ]);
    expect(second.next).toBeNull();
    expect(first.items[1]).toEqual({
      object: 'start',
      id: expect.any(String),
      gridLocationId,
      userId: session.userId,
      tenantReference: 'customer with five',
      brand: 'd',
      status: 'started',
      error: null,
      attempts: 1,
      orphans: 0,
      sessionId: session.id,
      stalled: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const failed = await list(`userId=${session.userId}&status=failed`);
    expect(failed.items.map(({ brand }) => brand)).toEqual(['e']);
    expect((await list(`userId=${session.userId}&status=sending`)).items).toEqual([]);
    expect((await list(`userId=${randomUUID()}`)).items).toEqual([]);
  });
});

// These tests come last, because the wait that the remote service requests may outlast them.
describe('a start that the remote service does not accept', () => {
  it('returns 422 if it is rejected, and 503 while the remote service requests a wait', async () => {
    const gridLocationId = await client.locate();
    await sandbox.addFault({
      kind: 'answer',
      operation: 'start_session',
      status: 422,
      body: '{"error":"no solar here"}',
      times: 1,
    });
    const warn = jest.spyOn(Logger.prototype, 'warn');
    expect((await client.start(randomUUID())).status).toBe(404);
    expect(await client.start(gridLocationId)).toMatchObject({
      status: 422,
      body: { code: 'remote_rejected' },
    });
    const warnings = warn.mock.calls.map(([line]: unknown[]) => line as Record<string, unknown>);
    expect(warnings.filter(({ message }) => message === 'a start has failed')).toEqual([
      { message: expect.any(String), reason: expect.stringContaining('rejected'), gridLocationId },
    ]);
    await sandbox.addFault({
      kind: 'too_many_requests',
      operation: 'start_session',
      retryAfter: '1',
      times: 1,
    });
    const unavailable = await client.start(gridLocationId);
    expect([unavailable.status, unavailable.headers.get('retry-after')]).toEqual([503, '1']);
    await waitFor('starts are sent again', async () => (await client.start(gridLocationId)).status === 201);
  });
});

import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { InternalRequests, type InternalResponse } from '../../../src/bulk/internal-requests.js';
import type { BulkActionView } from '../../../src/bulk/bulk-actions.dto.js';
import { BulkActionsStore } from '../../../src/bulk/bulk-actions.store.js';
import { BulkRunner } from '../../../src/bulk/bulk-runner.service.js';
import type { Principal } from '../../../src/access/scopes.js';
import { Cipher } from '../../../src/platform/crypto/cipher.js';
import { WakeUp } from '../../../src/platform/async/wake-up.js';
import { insertRow, tomorrow } from '../../db/valid-rows.js';
import { TestClient } from '../../setup/client.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { createKey } from '../keys.js';

// Starts no worker, which would send registrations again.
const service = useTestApp({ ROLE: 'api' });
const client = TestClient.of(service);
const database = () => service.database;
afterEach(() => void jest.restoreAllMocks());

/** Inserts registrations of which nobody knows the outcome. Returns their ids. */
async function insertUncertain(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let nth = 0; nth < count; nth++) {
    const row = { status: 'uncertain', attempts: 1, last_error: 'reset' };
    ids.push((await insertRow<{ id: string }>(database().pool, 'registrations', row)).id);
  }
  return ids;
}

const create = (input: object, by = client, headers: Readonly<Record<string, string>> = {}) =>
  by.call<BulkActionView>(
    'POST',
    '/bulk-actions',
    { operationId: 'discardRegistration', reason: 'Ended.', ...input },
    headers,
  );
const finished = (id: string) =>
  waitFor('each id to have a result', async () => {
    const { body } = await client.call<BulkActionView>('GET', `/bulk-actions/${id}`);
    return body.finishedAt !== null && body;
  });
/** Makes an inserted action due, whose lease is over. Until then, it has no ids or only some of them, with which it could end. */
const makeDue = (id: string) =>
  database().query(
    `UPDATE bulk_actions SET due_at = now() - interval '1 ms', lease_until = CASE WHEN lease_until IS NOT NULL THEN now() - interval '1 ms' END
      WHERE id = $1`,
    [id],
  );
const auditOf = (id: string) =>
  database().query<{ action: string; actor: string; requestId: string }>(
    `SELECT action, actor, request_id AS "requestId" FROM audit_log WHERE target = $1`,
    [id],
  );

describe('a bulk action', () => {
  it('starts no second session of a location, which a crash could repeat', async () => {
    const start = { operationId: 'startSession', ids: [randomUUID()] };
    expect(await create({ ...start, arguments: { reuse: false } })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'arguments.reuse' }] },
    });
    expect((await create({ ...start, arguments: { reuse: true } })).status).toBe(202);
  });

  it('acts on exactly these ids, once each, and says what each got', async () => {
    const [first, second, discarded, other] = (await insertUncertain(4)) as [string, string, string, string];
    await client.call('POST', `/registrations/${discarded}/discard`);
    const [registered] = (await insertUncertain(1)) as [string];
    await database().query(`UPDATE registrations SET status = 'registered' WHERE id = $1`, [registered]);
    const unknown = randomUUID();
    const { id: action_id } = await insertRow<{ id: string }>(database().pool, 'bulk_actions', {
      ...{ lease_token: randomUUID(), lease_until: tomorrow(), due_at: 'infinity' },
    });
    await insertRow(database().pool, 'bulk_action_items', { action_id, target: other });
    const { app, id: keyId } = await createKey(client, 'registrations:decide');
    const { status, headers, body } = await create(
      { ids: [first, registered, discarded, unknown, second] },
      app,
    );
    expect([status, headers.get('location')]).toEqual([202, `/api/v1/bulk-actions/${body.id}`]);
    const action = await finished(body.id);
    expect(action).toMatchObject({
      ...{ operationId: 'discardRegistration', reason: 'Ended.', createdBy: `key:${keyId}` },
      counts: { pending: 0, done: 3, skipped: 2, failed: 0 },
      items: [
        { id: first, status: 'done', code: null, doneAt: expect.any(String) },
        { id: registered, status: 'skipped', code: 'registration_conflict' },
        { id: discarded, status: 'done', code: null },
        { id: unknown, status: 'skipped', code: 'not_found' },
        { id: second, status: 'done', code: null },
      ],
    });
    expect(await auditOf(first)).toEqual([
      { action: 'registration.discarded', actor: `key:${keyId}`, requestId: `bulk-${body.id}` },
    ]);
    expect(await auditOf(other)).toEqual([]);
    const log = await client.list<object>(`/audit-log?targets=${body.id}`);
    expect(log).toMatchObject([
      {
        action: 'bulk_action.created',
        details: { operationId: 'discardRegistration', ids: 5, reason: 'Ended.' },
      },
    ]);
  });

  it('acts once on an id that is given in two spellings, in the order given, and on more ids than it begins at once', async () => {
    const ids = (await insertUncertain(12)).toSorted().reverse();
    const { body } = await create({ ids: [...ids, ids[0]!.toUpperCase()] });
    expect((await finished(body.id)).items.map(({ id, status }) => [id, status])).toEqual(
      ids.map((id) => [id, 'done']),
    );
    for (const id of ids) expect(await auditOf(id)).toHaveLength(1);
    const { body: log } = await client.call<{ items: object[] }>('GET', `/audit-log?targets=${body.id}`);
    expect(log.items).toMatchObject([{ details: { ids: 12 } }]);
  });

  it('sends again what is refused for now, at most four times, and waits at most 10 s in between', async () => {
    const requests = jest.spyOn(service.app.get(InternalRequests), 'send');
    const wait = WakeUp.prototype.wait;
    const waits: [AbortSignal, number][] = [];
    jest.spyOn(WakeUp.prototype, 'wait').mockImplementation(function (this: WakeUp, stop, ms, ...rest) {
      waits.push([stop, ms]);
      return wait.call(this, stop, Math.min(ms, 100), ...rest);
    });
    const plans: [status: number, retryAfterSeconds: number | null, times: number, sends: number][] = [
      [503, 7, 9, 4],
      [503, 60, 9, 4],
      [429, 10, 9, 4],
      [429, 11, 9, 1],
      [503, null, 3, 4],
    ];
    const ids = plans.map(() => randomUUID() as string);
    const sendsOf = (id: string) => requests.mock.calls.filter(([, { path }]) => path.includes(id)).length;
    requests.mockImplementation((_, { path }) => {
      const at = ids.findIndex((id) => path.includes(id));
      const [status, retryAfterSeconds, times] = plans[at]!;
      const response = sendsOf(ids[at]!) <= times ? { status, retryAfterSeconds } : { status: 204 };
      return Promise.resolve({ body: null, retryAfterSeconds: null, ...response });
    });
    const { items } = await finished((await create({ ids })).body.id);
    expect(items.map(({ status }) => status)).toEqual([...Array<string>(4).fill('failed'), 'done']);
    expect(ids.map(sendsOf)).toEqual(plans.map(([, , , sends]) => sends));
    const [signal] = waits.find(([, ms]) => ms === 7_000)!;
    expect(waits.flatMap(([stop, ms]) => (stop === signal ? [ms] : []))).toEqual(
      [7_000, 10_000, 10_000, 1_000].flatMap((ms) => [ms, ms, ms]),
    );
  });

  it('delays no other, of which four run at once', async () => {
    const held: ((response: InternalResponse) => void)[] = [];
    jest
      .spyOn(service.app.get(InternalRequests), 'send')
      .mockImplementation(() => new Promise((resolve) => held.push(resolve)));
    const actions = await Promise.all(Array.from({ length: 4 }, () => create({ ids: [randomUUID()] })));
    await waitFor('four requests', () => held.length === 4);
    for (const end of held) end({ status: 204, body: null, retryAfterSeconds: null });
    for (const { body } of actions) expect((await finished(body.id)).counts.done).toBe(1);
  });

  it('skips what has changed since its preview', async () => {
    const [changed, same] = (await insertUncertain(2)) as [string, string];
    await database().query(
      `UPDATE registrations SET updated_at = clock_timestamp() - interval '1 h' WHERE id = $1`,
      [same],
    );
    const unchangedSince = new Date(Date.now() - 60_000).toISOString();
    const { body } = await create({ ids: [changed, same], arguments: { unchangedSince } });
    const { items } = await finished(body.id);
    expect(items.map(({ status }) => status)).toEqual(['skipped', 'done']);
  });

  it('is done once, also if a process died after a commit and before it knew the result', async () => {
    const [committed, begun, pretended] = (await insertUncertain(3)) as [string, string, string];
    const { id } = await insertRow<{ id: string }>(database().pool, 'bulk_actions', {
      ...{ operation_id: 'retryRegistration', due_at: 'infinity' },
      lease_token: randomUUID(),
      lease_until: tomorrow(),
      caller_name: 'environment',
      caller_scopes: ['admin'],
    });
    for (const [index, target] of [committed, begun, pretended].entries())
      await insertRow(database().pool, 'bulk_action_items', {
        ...{ action_id: id, ordinal: index + 1, target, begun_at: 'now' },
      });
    await database().query(
      `INSERT INTO audit_log (actor, action, target, details, request_id)
       VALUES ('environment', 'registration.retried', $1, '{}', 'bulk-' || $3),
              ('key:other', 'registration.retried', $2, '{}', 'bulk-' || $3)`,
      [committed, pretended, id],
    );
    await makeDue(id);
    expect((await finished(id)).counts).toEqual({ pending: 0, done: 3, skipped: 0, failed: 0 });
    const audits = [await auditOf(committed), await auditOf(begun), await auditOf(pretended)];
    // Another caller may send the id of a request.
    expect(audits.map(({ length }) => length)).toEqual([1, 1, 2]);
    expect(await database().query('SELECT status FROM registrations WHERE id = $1', [committed])).toEqual([
      { status: 'uncertain' },
    ]);
  });

  it('takes nothing of a process that has lost its lease', async () => {
    const { id } = await insertRow<{ id: string }>(database().pool, 'bulk_actions', {
      ...{ lease_token: randomUUID(), lease_until: tomorrow(), due_at: 'infinity' },
    });
    await insertRow(database().pool, 'bulk_action_items', { action_id: id });
    const [store, late] = [service.app.get(BulkActionsStore), randomUUID()];
    expect(await store.begin(id, late, 10, [])).toEqual({ items: [], notBegun: [] });
    await store.settle(id, late, 1, { status: 'done', code: null, detail: null });
    await store.finish(id, late, [1]);
    const { body } = await client.call('GET', `/bulk-actions/${id}`);
    expect(body).toMatchObject({ finishedAt: null, counts: { pending: 1 } });
  });

  it('passes over an id whose result the database refuses, does it once, and says so', async () => {
    service.app.get(BulkRunner).patienceMs = 0;
    const [refused, never, last] = (await insertUncertain(3)) as [string, string, string];
    const wordy = randomUUID();
    const refuseWhen = (condition: string, name: string) =>
      database().query(`
        CREATE TRIGGER ${name} BEFORE UPDATE ON bulk_action_items FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION refuse()`);
    await database().query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$`,
    );
    await refuseWhen(`new.target = '${refused}' AND new.status <> 'pending'`, 'refuse_result');
    await refuseWhen(`new.target = '${never}'`, 'refuse_all');
    await refuseWhen(`new.target = '${wordy}' AND new.detail LIKE '%${wordy}%'`, 'refuse_text');
    const { body } = await create({ ids: [refused, never, wordy, last] });
    const action = await finished(body.id);
    await database().query('DROP FUNCTION refuse CASCADE');
    const unknown = {
      status: 'failed',
      code: 'internal_error',
      detail: expect.stringContaining('audit log'),
    };
    expect(action).toMatchObject({
      counts: { pending: 0, done: 1, skipped: 1, failed: 2 },
      items: [
        { id: refused, ...unknown },
        { id: never, ...unknown },
        {
          ...{ id: wordy, status: 'skipped', code: 'not_found' },
          detail: 'The result cannot be stored as it was',
        },
        { id: last, status: 'done' },
      ],
    });
    const audits = [await auditOf(refused), await auditOf(never), await auditOf(last)];
    expect(audits.map(({ length }) => length)).toEqual([1, 0, 1]);
  });

  it('ends although the database refuses to begin an id for longer than its patience', async () => {
    service.app.get(BulkRunner).patienceMs = 1_000;
    const [never] = (await insertUncertain(1)) as [string];
    await database().query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON bulk_action_items FOR EACH ROW
        WHEN (new.target = '${never}') EXECUTE FUNCTION refuse()`);
    const { body } = await create({ ids: [never] });
    const { counts } = await finished(body.id);
    await database().query('DROP FUNCTION refuse CASCADE');
    expect(counts).toEqual({ pending: 0, done: 0, skipped: 0, failed: 1 });
    expect(await auditOf(never)).toEqual([]);
  });

  it('has the results that the database refused for a while, and does nothing twice', async () => {
    service.app.get(BulkRunner).patienceMs = 300_000;
    const ids = await insertUncertain(3);
    await database().query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON bulk_action_items FOR EACH ROW
        WHEN (new.target = '${ids[0]}' OR new.target = '${ids[1]}' AND new.status <> 'pending') EXECUTE FUNCTION refuse()`);
    const { body } = await create({ ids });
    const read = async () => (await client.call<BulkActionView>('GET', `/bulk-actions/${body.id}`)).body;
    await waitFor('the last result', async () => (await read()).counts.done === 1);
    expect(await read()).toMatchObject({ finishedAt: null, counts: { pending: 2 } });
    await database().query('DROP FUNCTION refuse CASCADE');
    expect((await finished(body.id)).counts).toEqual({ pending: 0, done: 3, skipped: 0, failed: 0 });
    for (const id of ids) expect(await auditOf(id)).toHaveLength(1);
  });

  it('loses its reason when a person is erased on whom it acts, and its arguments at its end', async () => {
    const { gridLocationId, userId } = await client.startNew();
    const { id } = await insertRow<{ id: string }>(database().pool, 'bulk_actions', {
      ...{ operation_id: 'startSession', reason: 'Jansen called.', caller_name: 'environment' },
      arguments: { metadata: { note: 'Jansen' } },
      ...{
        caller_scopes: ['admin'],
        lease_token: randomUUID(),
        lease_until: new Date(Date.now() + 3_600_000),
      },
      due_at: 'infinity',
    });
    for (const [index, target] of [gridLocationId, randomUUID()].entries())
      await insertRow(database().pool, 'bulk_action_items', { action_id: id, ordinal: index + 1, target });
    expect((await client.call('DELETE', `/users/${userId}`)).status).toBe(200);
    const { body } = await client.call<BulkActionView>('GET', `/bulk-actions/${id}`);
    expect(body).toMatchObject({ reason: 'erased', arguments: { metadata: { note: 'Jansen' } } });
    await makeDue(id);
    expect(await finished(id)).toMatchObject({ reason: 'erased', arguments: {}, counts: { skipped: 2 } });
  });

  it('of a revoked key acts no more', async () => {
    const ids = await insertUncertain(2);
    const { app, id: keyId } = await createKey(client, 'registrations:decide');
    const { body } = await service.database.transaction(async (tx) => {
      // The first decision waits for this lock, so the key is revoked before the second.
      await tx.query('SELECT FROM registrations WHERE id = $1 FOR UPDATE', [ids[0]]);
      const created = await create({ ids }, app);
      await waitFor(
        'the decision to wait',
        async () =>
          (
            await database().query(
              `SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT l.granted AND a.datname = current_database()`,
            )
          ).length > 0,
      );
      await client.call('DELETE', `/api-keys/${keyId}`);
      return created;
    });
    const { items } = await finished(body.id);
    expect(items).toMatchObject(ids.map((id) => ({ id, status: 'failed', code: 'unauthenticated' })));
    for (const id of ids) expect(await auditOf(id)).toEqual([]);
  });

  it('of the administrator acts no more once ADMIN_API_KEY has changed, nor that of a person once the scopes of groups have', async () => {
    const cipher = service.app.get(Cipher);
    const codeOf = async (caller_name: string, grant: string) => {
      const [target] = await insertUncertain(1);
      const { id } = await insertRow<{ id: string }>(database().pool, 'bulk_actions', {
        ...{ operation_id: 'discardRegistration', caller_scopes: ['admin'], due_at: 'infinity' },
        ...{ caller_name, grant_hash: cipher.hash(grant, 'bulk_actions/grant') },
      });
      await insertRow(database().pool, 'bulk_action_items', { action_id: id, target });
      await makeDue(id);
      return (await finished(id)).items[0]!.code;
    };
    const { ADMIN_API_KEY } = service.environment;
    expect([
      await codeOf('environment', ADMIN_API_KEY),
      await codeOf('environment', `other ${ADMIN_API_KEY}`),
      await codeOf('oidc:anna', JSON.stringify([null, null, null])),
      await codeOf('oidc:anna', JSON.stringify([null, null, 'leads=admin'])),
    ]).toEqual([null, 'unauthenticated', null, 'unauthenticated']);
  });

  it('of a person whose time in the console is over acts no more', async () => {
    const codeUntil = async (ms: number) => {
      const [target] = await insertUncertain(1);
      const { id } = await insertRow<{ id: string }>(database().pool, 'bulk_actions', {
        ...{ operation_id: 'discardRegistration', caller_scopes: ['registrations:decide'] },
        ...{ console_until: new Date(Date.now() + ms), due_at: 'infinity' },
      });
      await insertRow(database().pool, 'bulk_action_items', { action_id: id, target });
      await makeDue(id);
      return (await finished(id)).items[0]!.code;
    };
    expect([await codeUntil(-1), await codeUntil(3_600_000)]).toEqual(['unauthenticated', null]);
  });

  it('needs the scopes of its operation, and an operation that may be done for many', async () => {
    const { app } = await createKey(client, 'users:read');
    expect((await create({ ids: [randomUUID()] }, app)).status).toBe(403);
    const { body } = await create({ ids: [randomUUID()] });
    expect((await app.call('GET', `/bulk-actions/${body.id}`)).status).toBe(403);
    const refused = await create({ operationId: 'eraseUser', ids: [randomUUID()] });
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ field: 'operationId' }] } });
    for (const [field, value] of [
      ['ids', []],
      ['ids', ['1']],
      ['reason', ' '],
      ['arguments', []],
    ] as const)
      expect(await create({ ids: [randomUUID()], [field]: value })).toMatchObject({
        status: 400,
        body: { errors: [{ field }] },
      });
    for (const number of ['1e400', '9007199254740993', '[{"a":0.1234567890123456789}]'])
      expect(
        await client.call(
          'POST',
          '/bulk-actions',
          `{"operationId":"startSession","ids":["${randomUUID()}"],"reason":"x","arguments":{"brand":${number}}}`,
          { 'content-type': 'application/json' },
        ),
      ).toMatchObject({ status: 400, body: { errors: [{ field: 'arguments' }] } });
  });

  it('keeps the caller as it was, a person in the console too', async () => {
    const store = service.app.get(BulkActionsStore);
    const action = { operationId: 'discardRegistration', ids: [randomUUID()], reason: 'Ended.' };
    const caller: Principal = {
      id: null,
      name: 'oidc:a',
      scopes: ['registrations:decide'],
      consoleUntil: Date.now(),
    };
    const id = await database().transaction((tx) => store.create(tx, action, caller));
    expect(await store.read(id)).toMatchObject({ caller });
  });

  it('is created once if its request is repeated with its Idempotency-Key', async () => {
    const ids = [randomUUID()];
    const repeat = { 'idempotency-key': randomUUID() };
    const [one, other] = [await create({ ids }, client, repeat), await create({ ids }, client, repeat)];
    expect(other.body.id).toBe(one.body.id);
  });
});

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import {
  DELETE_EXPIRED,
  IdempotencyKeys,
  REPEATABLE_REQUESTS,
} from '../../../src/idempotency/idempotency-keys.store.js';
import { ManagedKeysStore } from '../../../src/api-keys/managed-keys.store.js';
import { Cipher } from '../../../src/platform/crypto/cipher.js';
import { changesOf } from '../../setup/changes.js';
import { TestClient } from '../../setup/client.js';
import { newEan } from '../../setup/ean.js';
import { useTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { startReplica } from '../replica.js';

// A process with the role `api` changes nothing by itself.
const service = useTestApp({ ROLE: 'api' });
const client = TestClient.of(service);
let other: TestApp;

beforeAll(async () => {
  other = await startReplica(service, { ROLE: 'api' });
});
afterAll(() => other.close());

const send = (at: TestClient, path: string, body: unknown, key: string) =>
  at.call('POST', path, body, {
    'idempotency-key': key,
    ...(typeof body === 'string' && { 'content-type': 'text/csv' }),
  });

const document = JSON.parse(
  await readFile(new URL('../../../openapi.json', import.meta.url), 'utf8'),
) as Readonly<{ paths: Record<string, { post?: { parameters?: { name: string }[]; 'x-safe'?: boolean } }> }>;
const posts = Object.entries(document.paths).filter(
  ([path, { post }]) => post && path.startsWith('/api/v1/'),
);

it('every POST takes an Idempotency-Key, and says so, unless it changes nothing', () => {
  const taking = posts.filter(([, { post }]) =>
    post!.parameters?.some(({ name }) => name === 'Idempotency-Key'),
  );
  const safe = posts.filter(([, { post }]) => post!['x-safe']).map(([path]) => path);
  expect(safe).toEqual(['/api/v1/search']);
  expect(taking).toHaveLength(posts.length - safe.length);
});

/** Returns what has been done: who did what, what was told, and what the remote service has. */
async function effects() {
  const [counts] = await service.database.query<object>(
    `SELECT (SELECT count(*) FROM audit_log) AS audited, (SELECT count(*) FROM domain_events) AS told,
            (SELECT count(*) FROM campaigns) AS campaigns, (SELECT count(*) FROM session_observations) AS read`,
  );
  return { ...counts, users: (await service.sandbox!.control.users()).length };
}

it('a POST that is repeated with its key, also at once and at another replica, is done once and has one response', async () => {
  const changes = (await changesOf(service)).filter(({ operation }) => operation.startsWith('POST '));
  const paths = changes.map(({ operation }) => operation.replace('POST ', '/api/v1'));
  expect(paths.sort()).toEqual(posts.map(([path]) => path).sort());
  const wrong = [];
  for (const { operation, path, body } of changes.filter(({ path }) => path !== '/search')) {
    const key = randomUUID();
    const first = await Promise.all([
      send(client, path, body, key),
      send(TestClient.of(other), path, body, key),
    ]);
    const id = first[0].body['id'] as string;
    // Its ids are acted on after the response, which shows the progress.
    const isJob = path === '/bulk-actions';
    if (isJob)
      await waitFor('the job to end', async () => {
        const { body: job } = await client.call('GET', `${path}/${id}`);
        return job['finishedAt'] !== null;
      });
    const done = await effects();
    const later = [await send(TestClient.of(other), path, body, key), await send(client, path, body, key)];
    const answers = [...first, ...later].map(({ status, text, headers, body: answer }) =>
      [status, isJob ? String(answer['id']) : text, headers.get('location')].join(' '),
    );
    if (first[0].status >= 300 || new Set(answers).size !== 1) wrong.push({ operation, answers });
    expect([operation, await effects()]).toEqual([operation, done]);
    const changed = typeof body === 'string' ? `${body}other,${newEan()}\n` : { ...(body as object), one: 1 };
    const { status, body: problem } = await send(client, path, changed, key);
    if (status !== 422 || problem['code'] !== 'idempotency_key_reused')
      wrong.push({ operation, status, problem });
  }
  expect(wrong).toEqual([]);
});

it('a second reminder and a second code are the first with the same key, and their own with another', async () => {
  const gridLocationId = await client.locate();
  const { id } = (await client.call('POST', '/invitations', { gridLocationId })).body;
  const statuses = [];
  for (const key of ['one', 'one', 'other'])
    statuses.push((await send(client, `/invitations/${String(id)}/reminders`, undefined, key)).status);
  expect(statuses).toEqual([200, 200, 429]);
  const codes: unknown[] = [];
  for (const key of ['one', 'one', 'other'])
    codes.push((await send(client, `/invitations/${String(id)}/code`, undefined, key)).body['code']);
  expect(codes.map((code) => codes.indexOf(code))).toEqual([0, 0, 2]);
});

it('a repetition of a registration that was open gets what has become of it', async () => {
  const body = { tenantReference: randomUUID(), gridLocations: [{ ean: newEan() }] };
  const register = async () => (await send(client, '/users', body, 'open')).status;
  await service.sandbox!.control.addFault({
    kind: 'answer',
    operation: 'register_user',
    status: 429,
    times: 1,
  });
  expect(await register()).toBe(202);
  await waitFor('the registration to be sent again', async () => {
    await service.database.query(
      `UPDATE registrations SET next_attempt_at = now() - interval '1 ms' WHERE status = 'pending' AND lease_until IS NULL`,
    );
    return (await register()) === 201;
  });
  expect(await register()).toBe(200);
});

it.each([
  ['discarded', 409, 'registration_conflict'],
  ['rejected', 422, 'remote_rejected'],
])('a repetition of a registration that is %s since registers nobody', async (end, status, code) => {
  const { control } = service.sandbox!;
  const answer = { kind: 'answer', operation: 'register_user', times: 1 } as const;
  const body = { tenantReference: randomUUID(), gridLocations: [{ ean: newEan() }] };
  const register = async () => send(client, '/users', body, end);
  await control.addFault({ ...answer, status: 429 });
  const first = await register();
  expect(first.status).toBe(202);
  if (end === 'discarded') await client.call('POST', `/registrations/${String(first.body['id'])}/discard`);
  else {
    await control.addFault({ ...answer, status: 422, body: '{}' });
    await service.database.query(
      `UPDATE registrations SET next_attempt_at = now() - interval '1 ms' WHERE status = 'pending'`,
    );
    await register();
  }
  const done = await effects();
  for (let time = 0; time < 2; time++) expect((await register()).body).toMatchObject({ status, code });
  expect(await effects()).toEqual(done);
});

it('a response that cannot be stored is sent, and the request is executed again once its lease is over', async () => {
  const body = { tenantReference: randomUUID(), gridLocations: [{ ean: newEan() }] };
  const cipher = service.app.get(Cipher);
  const encrypt = cipher.encrypt.bind(cipher);
  const spy = jest.spyOn(cipher, 'encrypt').mockImplementation((text, context) => {
    if (text.includes('"response"')) throw new Error('the database is gone');
    return encrypt(text, context);
  });
  const warn = jest.spyOn(Logger.prototype, 'warn');
  expect((await send(client, '/users', body, 'lost')).status).toBe(201);
  expect(warn.mock.calls).toContainEqual([
    'the outcome for an Idempotency-Key could not be stored: Error: the database is gone',
  ]);
  warn.mockRestore();
  spy.mockRestore();
  const repeated = send(client, '/users', body, 'lost');
  await waitFor('the repetition to wait', async () => {
    const leased = await service.database.query(
      `UPDATE idempotency_keys SET lease_until = clock_timestamp() - interval '1 ms' WHERE lease_until IS NOT NULL RETURNING id`,
    );
    return leased.length > 0;
  });
  expect((await repeated).status).toBe(200);
});

it('a request whose lease another has taken over changes nothing, and leaves the key to the other', async () => {
  const keys = service.app.get(ManagedKeysStore);
  const create = keys.create.bind(keys);
  const rowsOf = () => service.database.query('SELECT * FROM idempotency_keys WHERE lease_until IS NOT NULL');
  let taken: unknown;
  jest.spyOn(keys, 'create').mockImplementationOnce(async (...given) => {
    await service.database.query(
      `UPDATE idempotency_keys SET lease_token = gen_random_uuid(), lease_until = 'tomorrow' WHERE lease_until IS NOT NULL`,
    );
    taken = await rowsOf();
    return create(...given);
  });
  const body = { name: 'taken over', scopes: ['users:read'] };
  expect((await send(client, '/api-keys', body, 'taken')).body).toMatchObject({
    status: 503,
    code: 'database_unavailable',
    detail: 'Another request with the same Idempotency-Key has begun',
  });
  expect(taken).toHaveLength(1);
  expect(await rowsOf()).toEqual(taken);
  expect(await service.database.prisma.apiKey.count({ where: { name: 'taken over' } })).toBe(0);
  await service.database.query(
    `UPDATE idempotency_keys SET lease_until = clock_timestamp() - interval '1 ms' WHERE lease_until IS NOT NULL`,
  );
  expect((await send(client, '/api-keys', body, 'taken')).status).toBe(201);
});

it('a request about a person is not repeated after the erasure, of which nothing but its key stays', async () => {
  const body = { tenantReference: randomUUID(), gridLocations: [{ ean: newEan() }] };
  const register = () => send(client, '/users', body, 'a-person');
  const first = await register();
  expect((await register()).text).toBe(first.text);
  await client.call('DELETE', `/users/${String(first.body['id'])}`);
  const done = await effects();
  expect((await register()).body).toMatchObject({ status: 422, code: 'idempotency_key_reused' });
  expect(await effects()).toEqual(done);
  const empty = `SELECT subjects FROM idempotency_keys WHERE response_ciphertext = ''`;
  expect(await service.database.query(empty)).toEqual([{ subjects: [] }]);
  expect((await client.call('POST', '/users', body)).status).toBe(201);
});

it('a registration whose response was lost with its process is not repeated after the erasure', async () => {
  const body = { tenantReference: randomUUID(), gridLocations: [{ ean: newEan() }] };
  const lost = jest
    .spyOn(service.app.get(IdempotencyKeys), 'finish')
    .mockImplementationOnce(async (execution) => {
      execution.leaseToken = undefined;
    });
  const { id } = (await send(client, '/users', body, 'died')).body;
  lost.mockRestore();
  await client.call('DELETE', `/users/${String(id)}`);
  const done = await effects();
  expect((await send(TestClient.of(other), '/users', body, 'died')).status).toBe(422);
  expect(await effects()).toEqual(done);
});

it('a response about a person who is erased before it is stored is not stored', async () => {
  const body = { tenantReference: randomUUID(), gridLocations: [{ ean: newEan() }] };
  const keys = service.app.get(IdempotencyKeys);
  const finish = keys.finish.bind(keys);
  jest.spyOn(keys, 'finish').mockImplementationOnce(async (execution, response) => {
    await client.call('DELETE', `/users/${(response.body as { id: string }).id}`);
    return finish(execution, response);
  });
  const { id } = (await send(client, '/users', body, 'erased')).body;
  expect((await send(client, '/users', body, 'erased')).status).toBe(422);
  expect(await service.database.query('SELECT FROM idempotency_keys WHERE subjects && $1', [[id]])).toEqual(
    [],
  );
});

it.each([
  ['age', DELETE_EXPIRED, []],
  ['person', `DELETE FROM idempotency_keys AS t WHERE ${REPEATABLE_REQUESTS.where}`, [[randomUUID()]]],
])('stored responses are deleted by %s without reading the others', async (_, text, values) => {
  await service.database.query(
    `INSERT INTO idempotency_keys (id, response_ciphertext, subjects)
     SELECT translate(encode(sha256(gen_random_uuid()::text::bytea), 'base64'), '+/=', '-_'), '', ARRAY[gen_random_uuid()::text]
       FROM generate_series(1, 5000)`,
  );
  await service.database.query('VACUUM ANALYZE idempotency_keys');
  const plan = await service.database.query(`EXPLAIN ${text}`, values);
  expect(JSON.stringify(plan)).not.toContain('Seq Scan');
});

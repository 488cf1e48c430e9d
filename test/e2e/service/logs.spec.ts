import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { TestClient } from '../../setup/client.js';
import { startWebhookSink, type WebhookSink } from '../../setup/receivers/webhook-sink.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox.js';
import { startServiceProcess } from '../../setup/service-process.js';
import { createTestDatabase, type TestDatabase } from '../../setup/test-database.js';
import { ADMIN_KEY, testEnvironment } from '../../setup/test-environment.js';
import type { TestProcess } from '../../setup/test-process.js';
import { waitFor } from '../../setup/wait-for.js';

jest.setTimeout(120_000);

type Line = Readonly<Record<string, unknown>> & { readonly level: string; readonly message: string };

/** A library that prints an error to the console, at a signal. */
const LIBRARY = `process.on('SIGUSR2', () => console.trace(new Error('a library fails')))`;

let sandbox: TestSandbox;
let database: TestDatabase;
let sink: WebhookSink;
let service: TestProcess;
let client: TestClient;

const environment = (): Record<string, string> => ({
  ...sandbox.environment,
  DATABASE_URL: database.url,
  NODE_ENV: 'production',
  LOG_LEVEL: 'info',
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(LIBRARY)}`,
  WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true',
});

beforeAll(async () => {
  [sandbox, database, sink] = await Promise.all([startSandbox(), createTestDatabase(), startWebhookSink()]);
  service = await startServiceProcess(environment());
  client = new TestClient(service.url, ADMIN_KEY);
});
afterAll(async () => {
  await service.stop('SIGKILL');
  await Promise.all([sandbox.stop(), sink.stop()]);
  await database.drop();
});

/** Returns the complete lines of standard output and standard error. Throws if one is not JSON. */
const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);

const find = (fields: Readonly<Record<string, unknown>>, words: string) =>
  linesOf(service.logs()).filter(
    (line) =>
      line.message.includes(words) && Object.entries(fields).every(([name, value]) => line[name] === value),
  );
const findOne = async (fields: Readonly<Record<string, unknown>>, words: string) =>
  waitFor(`the line: ${words}`, () => find(fields, words)[0], 60_000);

describe('the log reports once', () => {
  it('that an operation is degraded and has recovered', async () => {
    const { id } = await client.startNew();
    await sandbox.control.addFault({ kind: 'answer', status: 500, operation: 'read_session', times: null });
    const operation = 'read_session';
    await findOne(
      { level: 'warn', operation },
      'the remote service is degraded for read_session: status 500',
    );
    const failed = async () =>
      (await sandbox.control.requests()).filter((request) => request.operation === operation).length;
    const before = await failed();
    await waitFor('further failed reads', async () => (await failed()) > before, 40_000);
    await sandbox.control.clearFaults();
    await findOne({ level: 'info', operation }, 'the remote service has recovered for read_session');
    expect(find({ operation }, 'is degraded')).toHaveLength(1);
    expect(find({}, id)).toEqual([]);
  });

  it('that the credentials are rejected, also after another failure, and accepted again', async () => {
    const { control } = sandbox;
    const operation = 'token';
    await client.startNew();
    await control.addFault({ kind: 'answer', status: 503, operation, times: 1 });
    await control.addFault({ kind: 'answer', status: 401, operation, times: null });
    await control.revokeTokens();
    await findOne({ level: 'warn' }, 'no token: responded with status 503');
    await findOne({ level: 'error', operation }, 'the remote service rejects our credentials');
    await control.clearFaults();
    expect((await client.call('POST', '/status/credentials/probe')).status).toBe(200);
    await findOne({ level: 'info', operation }, 'the remote service has recovered for token');
    expect(find({ operation }, 'rejects our credentials')).toHaveLength(1);
  });

  it.each([
    ['a delivery', () => client.startNew()],
    ['a test event', (id: string) => client.call('POST', `/webhook-endpoints/${id}/test`)],
  ])('that a webhook endpoint fails, and works again after %s', async (_by, repair) => {
    await sink.behave({ '/hook': { fail: 1 } });
    const { body } = await client.call<{ id: string; secret: string }>('POST', '/webhook-endpoints', {
      url: `${sink.url}/hook`,
    });
    await client.startNew();
    const of = { endpointId: body.id };
    await findOne({ ...of, level: 'warn' }, 'a webhook endpoint fails');
    const attempts = (await sink.received()).length;
    await client.startNew();
    await waitFor('further attempts', async () => (await sink.received()).length > attempts + 1);
    await sink.behave({});
    await repair(body.id);
    await findOne({ ...of, level: 'info' }, 'a webhook endpoint works again');
    expect(find(of, '')).toHaveLength(2);
    expect(service.logs()).not.toContain(body.secret);
  });

  it('that a start has failed', async () => {
    const gridLocationId = await client.locate();
    await sandbox.control.addFault({ kind: 'answer', status: 422, operation: 'start_session' });
    expect((await client.start(gridLocationId)).status).toBe(422);
    await findOne({ gridLocationId, level: 'warn' }, 'a start has failed');
    expect(find({ gridLocationId }, '')).toHaveLength(1);
    expect(find({ gridLocationId }, '')[0]).toMatchObject({ requestId: expect.any(String) });
  });

  it('that a registration is uncertain, and what a person decided', async () => {
    await sandbox.control.addFault({ kind: 'reset', effect: true, operation: 'register_user' });
    const { body } = await client.call<{ id: string }>('POST', '/users', {
      tenantReference: 'lost',
      gridLocations: [{ ean: '871685900000000014' }],
    });
    const of = { registrationId: body.id };
    await findOne({ ...of, level: 'warn' }, 'a registration is uncertain');
    await client.call('POST', `/registrations/${body.id}/discard`);
    await findOne({ ...of, level: 'info' }, 'decided to discard a registration');
    expect(find(of, '')).toHaveLength(2);
  });
});

describe('every line', () => {
  function expectLines(lines: readonly Line[]): void {
    for (const line of lines)
      expect(line).toMatchObject({
        level: expect.stringMatching(/^(fatal|error|warn|info|debug)$/),
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        role: 'all',
        replica: expect.stringMatching(/^.+:\d+$/),
        message: expect.any(String),
        context: expect.any(String),
      });
  }

  it('is JSON with level, time, role and replica, from the start to the stop, and contains no secret', async () => {
    service.kill('SIGUSR2');
    await findOne({ level: 'warn', context: 'Process' }, 'Error: a library fails');
    expect((await service.stop()).code).toBe(0);
    const lines = linesOf(service.logs());
    expectLines(lines);
    expect(lines[0]!.level).not.toBe('fatal');
    expect(lines.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^listening on .* as all$/),
    );
    const { SCS_API_KEY, SCS_CLIENT_SECRET } = sandbox.environment;
    for (const secret of [ADMIN_KEY, SCS_API_KEY, SCS_CLIENT_SECRET, testEnvironment().ENCRYPTION_KEYS!])
      expect(service.logs()).not.toContain(secret);
  });

  it('is also complete if the start fails', async () => {
    const failed = startServiceProcess({
      ...environment(),
      DATABASE_URL: 'postgresql://pv:pv@127.0.0.1:9/pv',
    });
    const { message } = await failed.then(
      () => new Error('it started'),
      (error: Error) => error,
    );
    const [ending, ...text] = message.split('\n');
    expect(ending).toBe('src/main.ts ended with 1:');
    const lines = linesOf(text.join('\n'));
    expectLines(lines);
    expect(lines.at(-1)).toMatchObject({
      level: 'fatal',
      message: expect.stringContaining('The configuration is not valid'),
    });
  });
});

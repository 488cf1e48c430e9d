import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TestClient } from '../../setup/client.js';
import { startWebhookSink, type WebhookSink } from '../../setup/receivers/webhook-sink.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox.js';
import { startServiceProcess } from '../../setup/service-process.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { ADMIN_KEY, testEnvironment } from '../../setup/test-environment.js';
import type { TestProcess } from '../../setup/test-process.js';
import { waitFor } from '../../setup/wait-for.js';

type Line = Readonly<Record<string, unknown>> & { readonly level: string; readonly message: string };

/** Simulates a library that prints an error to the console when a signal arrives. */
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
  waitFor(`the line: ${words}`, () => find(fields, words)[0]);

describe('the log reports once', () => {
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
});

import fs from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { destinationTo, ServiceLogger } from '../../../src/platform/logging/service-logger.js';
import { waitUntilHeld } from '../../faults/support/waits.js';
import { insertRow } from '../../db/valid-rows.js';
import { useFolder } from '../../setup/folder.js';
import { TestClient } from '../../setup/client.js';
import { newEan } from '../../setup/ean.js';
import { startWebhookSink, type WebhookSink } from '../../setup/receivers/webhook-sink.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox/sandbox.js';
import { startServiceProcess } from '../../setup/processes/service-process.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { ADMIN_KEY, environmentFor, testEnvironment } from '../../setup/test-environment.js';
import type { TestProcess } from '../../setup/processes/test-process.js';
import { waitFor } from '../../setup/wait-for.js';

type Line = Readonly<Record<string, unknown>> & { readonly level: string; readonly message: string };

/** A library that prints an error to the console, throws an error, or rejects a promise, each at a signal. */
const LIBRARY = `
  process.on('SIGWINCH', () => console.trace(new Error('a library fails')));
  process.on('SIGUSR2', () => { throw new Error('nobody catches this'); });
  process.on('SIGHUP', () => void Promise.reject(new Error('nobody handles this')));`;

/** Clears the screen twice (ESC [ and CSI), returns the carriage, and overrides the text direction. */
const HOSTILE = '\u001b[2J\u009b2J\r\u202ename';
/** Any control or format character except a line feed. */
const CONTROL = /[^\P{Cc}\n]|\p{Cf}/u;

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
  WEBHOOK_RETRY_SCHEDULE_MS: Array(50).fill(200).join(),
  SHUTDOWN_DELAY_MS: '0',
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

it('the log reports that a batch of a worker that died was released', async () => {
  await insertRow(await database.connect(), 'poll_batches', { lease_until: 'yesterday' });
  await findOne({ level: 'warn' }, 'released 1 batch of workers that did not renew their lease');
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
    service.kill('SIGWINCH');
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

describe('an error that nothing catches', () => {
  it.each([
    ['SIGUSR2', 'uncaughtException: Error: nobody catches this'],
    ['SIGHUP', 'unhandledRejection: Error: nobody handles this'],
  ] as const)('is logged once and stops the process in order (%s)', async (signal, logged) => {
    const failing = await startServiceProcess(environment());
    await sandbox.control.addFault({ kind: 'hold', operation: 'register_user' });
    const response = new TestClient(failing.url, ADMIN_KEY).call('POST', '/users', {
      tenantReference: signal,
      gridLocations: [{ ean: newEan() }],
    });
    await waitUntilHeld(sandbox.control, 1);
    failing.kill(signal);
    await waitFor('the line', () => failing.logs().includes(logged));
    await sandbox.control.clearFaults();

    expect((await response).status).toBe(201);
    expect(await failing.exited).toEqual({ code: 1, signal: null });
    expect(failing.logs().split(logged)).toHaveLength(2);
  });
});

describe('a log line', () => {
  const log = (format: 'pretty' | 'json', write: (logger: ServiceLogger) => void): string => {
    const settings = environmentFor('postgresql://none@127.0.0.1/none', { LOG_FORMAT: format });
    const written: string[] = [];
    write(new ServiceLogger(settings, { write: (line) => written.push(line) }));
    return written.join('');
  };

  const folder = useFolder();
  it('that does not fit on the disk is lost, without an error of the code that logs it, and the next one is written', async () => {
    const path = join(folder, 'service.log');
    const file = await open(path, 'w');
    const settings = environmentFor('postgresql://none@127.0.0.1/none', { LOG_FORMAT: 'json' });
    const logger = new ServiceLogger(settings, destinationTo(file.fd));
    const full = jest.spyOn(fs, 'writeSync').mockImplementation(() => {
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    });
    logger.warn('lost');
    logger.warn('lost again');
    full.mockRestore();
    logger.warn('written');
    await file.close();
    const lines = await readFile(path, 'utf8');
    expect(lines.trimEnd().split('\n')).toEqual([expect.stringContaining('"written"')]);
  });

  it('whose reader does not read delays the code that logs it once, and is written before the next one', async () => {
    const path = join(folder, 'unread.log');
    const file = await open(path, 'w');
    const settings = environmentFor('postgresql://none@127.0.0.1/none', { LOG_FORMAT: 'json' });
    const logger = new ServiceLogger(settings, destinationTo(file.fd));
    const full = jest.spyOn(fs, 'writeSync').mockImplementation(() => {
      // Ends the trials of a logger that never gives up.
      const code = full.mock.calls.length > 30 ? 'ENOSPC' : 'EAGAIN';
      throw Object.assign(new Error('the pipe is full'), { code });
    });
    logger.warn('first');
    const tries = full.mock.calls.length;
    expect(tries).toBeLessThan(10);
    logger.warn('second');
    expect(full.mock.calls.length).toBe(tries + 1);
    full.mockRestore();
    logger.warn('third');
    await file.close();
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as Line).message)).toEqual(['first', 'second', 'third']);
  });

  it('has no field whose name says that it is a secret, at any of three levels', () => {
    const names =
      'authorization ApiKey apiKey key secret password startUrl cookie token accessToken access_token clientSecret client_secret';
    const secrets = Object.fromEntries(names.split(' ').map((name) => [name, `secret-${name}`]));
    const output = log('json', (logger) => logger.warn({ ...secrets, one: { ...secrets, two: secrets } }));
    expect(output.split('[redacted]')).toHaveLength(3 * 13 + 1);
    expect(output).not.toContain('secret-');
  });

  it.each(['pretty', 'json'] as const)('in %s contains no control characters', (format) => {
    const error = new Error(`${HOSTILE}\n[pv-onboarding] 1  - forged`);
    const output = log(format, (logger) => {
      logger.warn(`of data: ${HOSTILE}\n[pv-onboarding] 1  - forged`, 'Test');
      logger.error(error.message, error.stack, 'Test');
      logger.error(error);
      logger.warn({ of: HOSTILE });
    });
    expect(output).not.toMatch(CONTROL);
    expect(output).toContain('\\u001b[2J\\u009b2J');
    expect(output).not.toMatch(/^\[pv-onboarding\] 1 {2}- forged/m);
  });
});

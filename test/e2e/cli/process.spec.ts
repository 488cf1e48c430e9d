import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { TestClient } from '../../setup/client.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox.js';
import { createTestDatabase, type TestDatabase } from '../../setup/test-database.js';
import { ADMIN_KEY, testEnvironment } from '../../setup/test-environment.js';
import { argumentsFor, startTestProcess, type TestProcess } from '../../setup/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import { withClient } from '../../setup/with-client.js';

jest.setTimeout(300_000);

const TERMINAL = 'data:text/javascript,process.stdin.isTTY = true';
const START_WITHIN_MS = 120_000;

let database: TestDatabase;
let sandbox: TestSandbox;
let folder: string;
let variables: Record<string, string>;
let service: TestProcess;
let client: TestClient;

const startService = (port = '0') => startTestProcess('src/main.ts', { ...variables, PORT: port }, folder);

beforeAll(async () => {
  database = await createTestDatabase();
  sandbox = await startSandbox();
  folder = await mkdtemp(join(tmpdir(), 'pv-cli-'));
  variables = { ...testEnvironment(), DATABASE_URL: database.url, ...sandbox.environment };
  service = await startService();
  client = new TestClient(service.url, ADMIN_KEY);
});
afterAll(async () => {
  await service.stop();
  await sandbox.stop();
  await database.drop();
  await rm(folder, { recursive: true });
});

/** Starts the command line in the folder of the service, which it finds there. */
function start(
  args: string[],
  env: Record<string, string> = variables,
  imports: string[] = [],
  cwd = folder,
) {
  const flags = imports.flatMap((url) => ['--import', url]);
  const child = spawn(process.execPath, [...flags, ...argumentsFor('src/cli/main.ts'), ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
  });
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text));
  const ended = once(child, 'close').then(([exitCode]) => ({ ...said, exitCode: exitCode as number | null }));
  return { child, said, ended };
}

async function run(args: string[], input = '', ...rest: [env?: Record<string, string>, imports?: string[]]) {
  const { child, ended } = start(args, ...rest);
  child.stdin.end(input);
  return ended;
}

describe('the command line', () => {
  it('finds the service of its folder, and ends with 0, 1 or 2', async () => {
    await client.locate('customer-4711');
    const unknown = '00000000-0000-4000-8000-000000000000';
    const [done, refused, misused, help] = await Promise.all([
      run(['users', 'list', '--json']),
      run(['users', 'show', unknown]),
      run(['users', 'show', 'x']),
      run(['users', '--help']),
    ]);
    expect(done).toMatchObject({ exitCode: 0, err: '' });
    expect(JSON.parse(done.out)).toMatchObject({ items: [{ tenantReference: 'customer-4711' }] });
    expect(refused).toEqual({ exitCode: 1, out: '', err: `not_found: There is no user ${unknown}\n` });
    expect(misused).toMatchObject({ exitCode: 2, err: expect.stringContaining('It must be a UUID.') });
    expect(help).toMatchObject({ exitCode: 0, err: '' });
  });

  it('says in one line why a database cannot be migrated', async () => {
    const other = await createTestDatabase('empty');
    await withClient(other.url, (client) => client.query('CREATE TABLE invoices ()'));
    const env = { ...variables, DATABASE_URL: other.url };
    const err = 'DATABASE_URL leads to tables of another program; an empty database is needed\n';
    expect(await run(['migrate'], '', env)).toEqual({ exitCode: 1, out: '', err });
    expect(await run(['migrate', '--plan'], '', env)).toEqual({ exitCode: 1, out: '', err });
    await other.drop();
  });

  it('says in one line that no service runs', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'pv-cli-'));
    const { ended } = start(['status'], { NODE_ENV: 'test' }, [], empty);
    expect(await ended).toEqual({
      exitCode: 1,
      out: '',
      err: 'No service runs in this folder: start it, or set PV_ONBOARDING_URL and PV_ONBOARDING_API_KEY.\n',
    });
  });

  it('asks before it erases, and erases only after a yes', async () => {
    await client.locate('customer-to-erase');
    const args = ['erase', 'customer-to-erase'];
    const users = async () =>
      (await client.call<{ items: object[] }>('GET', '/users?tenantReference=customer-to-erase')).body.items;
    const declined = await run(args, 'no\n', variables, [TERMINAL]);
    expect(declined).toMatchObject({ exitCode: 1, err: expect.stringContaining('Not confirmed') });
    const left = await run(args, '', variables, [TERMINAL]);
    expect(left.exitCode).toBe(1);
    expect(await users()).toHaveLength(1);
    const confirmed = await run(args, 'yes\n', variables, [TERMINAL]);
    expect(confirmed.err).toContain('all personal data stored here for customer-to-erase');
    expect(JSON.parse(confirmed.out)).toMatchObject({ erased: { registrations: 1 } });
    expect(await users()).toHaveLength(0);
  });

  it('does not ask a script, which has no terminal', async () => {
    await client.locate('customer-to-erase-by-script');
    const erased = await run(['erase', 'customer-to-erase-by-script']);
    expect(erased).toMatchObject({ exitCode: 0, err: '' });
    expect(JSON.parse(erased.out)).toMatchObject({ erased: { registrations: 1 } });
  });

  it('follows the events, also when the service restarts', async () => {
    const [table, json] = [
      start(['events', 'tail', '--after', '0', '--types', 'session.started']),
      start(['events', 'tail', '--after', '0', '--types', 'session.started', '--json']),
    ];
    const first = await client.startNew();
    const second = await client.startNew();
    const isThere = (id: string) => () => table.said.out.includes(id) && json.said.out.includes(id);
    await waitFor('the past events', isThere(second.id), START_WITHIN_MS);
    await service.stop();
    await waitFor('the loss of the stream', () => table.said.err.includes('; reconnecting'), START_WITHIN_MS);
    service = await startService(new URL(service.url).port);
    const third = await client.startNew();
    await waitFor('the event after the restart', isThere(third.id), START_WITHIN_MS);
    for (const { child } of [table, json]) child.kill();
    await Promise.all([table.ended, json.ended]);
    const subjects = json.said.out
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { subject: string }).subject);
    expect(subjects).toEqual([first.id, second.id, third.id]);
    const lines = table.said.out.trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(
      new RegExp(`^ +\\d+ {2}\\d{4}-[\\d-]+ [\\d:]+Z {2}session.started +${first.id}$`),
    );
  });

  it('opens psql without the password on its command line, or prints the command', async () => {
    await withClient(database.url, (owner) => owner.query('SELECT admin.grant_reader()'));
    const { child, ended } = start(['psql'], { ...variables, PATH: '/nowhere' });
    child.stdin.end();
    const { out, exitCode } = await ended;
    expect(exitCode).toBe(1);
    const password = new URL(database.url).password;
    expect(password).not.toBe('');
    expect(out).not.toContain(password);
    expect(out).toMatch(
      /^PGOPTIONS='-c role=pv_onboarding_reader .*' psql 'postgresql:\/\/\w+@127\.0\.0\.1:/,
    );
  });

  it('prints completions that name every command', async () => {
    const { out } = await run(['completion', 'bash']);
    const complete = (words: string): string[] => {
      const [, found = ''] = new RegExp(`^ {4}" ${words} "\\*\\) words="(.*)" ;;$`, 'm').exec(out) ?? [];
      return found.split(' ');
    };
    expect(complete('webhooks')).toContain('rotate-secret');
    expect(complete('webhooks rotate-secret')).toContain('--overlap-seconds');
  });
});

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { isLong } from '../../faults/support/promise.js';
import { TestClient } from '../../setup/client.js';
import { freePort } from '../../../src/local/free-port.js';
import { reserveFolder } from '../../../src/local/running-service.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox/sandbox.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { ADMIN_KEY, testEnvironment } from '../../setup/test-environment.js';
import { argumentsFor, startTestProcess, type TestProcess } from '../../setup/processes/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import { withClient } from '../../setup/database/with-client.js';

jest.setTimeout(300_000);
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const TERMINAL = 'data:text/javascript,process.stdin.isTTY = true';
const START_WITHIN_MS = 120_000;
/** The number of users that exist at the remote service. It must be even. */
const EXISTING = isLong ? 1_000 : 40;

let database: TestDatabase;
let sandbox: TestSandbox;
let folder: string;
let variables: Record<string, string>;
let service: TestProcess;
let client: TestClient;

const startService = (port: string) => startTestProcess('src/main.ts', { ...variables, PORT: port }, folder);

beforeAll(async () => {
  database = await createTestDatabase();
  sandbox = await startSandbox();
  folder = await mkdtemp(join(tmpdir(), 'pv-cli-'));
  variables = { ...testEnvironment(), DATABASE_URL: database.url, ...sandbox.environment };
  service = await startService(String(await freePort()));
  client = new TestClient(service.url, ADMIN_KEY);
});
afterAll(async () => {
  await service.stop();
  await sandbox.stop();
  await database.drop();
  await rm(folder, { recursive: true });
});

/** Starts the command line in the folder of the service, so that it finds the service. */
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
  const output = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.err += text));
  const ended = once(child, 'close').then(([exitCode]) => ({
    ...output,
    exitCode: exitCode as number | null,
  }));
  return { child, output, ended };
}

async function run(args: string[], input = '', ...rest: [env?: Record<string, string>, imports?: string[]]) {
  const { child, ended } = start(args, ...rest);
  child.stdin.end(input);
  return ended;
}

describe('the command line', () => {
  it('finds the service of its folder, and ends with 0, 1 or 2', async () => {
    await client.locate('customer-4711');
    const [done, refused, misused, help] = await Promise.all([
      run(['users', 'list', '--json']),
      run(['users', 'show', UNKNOWN]),
      run(['users', 'show', 'x']),
      run(['users', '--help']),
    ]);
    expect(done).toMatchObject({ exitCode: 0, err: '' });
    expect(JSON.parse(done.out)).toMatchObject({ items: [{ tenantReference: 'customer-4711' }] });
    expect(refused).toEqual({ exitCode: 1, out: '', err: `not_found: There is no user ${UNKNOWN}\n` });
    expect(misused).toMatchObject({ exitCode: 2, err: expect.stringContaining('It must be a UUID.') });
    const usage = expect.stringContaining('Usage: pv-onboarding users [options]') as unknown;
    expect(help).toMatchObject({ exitCode: 0, out: usage, err: '' });
  });

  it('does not load the service for commands of the API', async () => {
    const coverage = await mkdtemp(join(tmpdir(), 'pv-cli-'));
    await run(['users', 'list'], '', { ...variables, NODE_V8_COVERAGE: coverage });
    // Each thread writes a file: one of them may be the thread that loads modules.
    const files = await readdir(coverage);
    const texts = await Promise.all(files.map((file) => readFile(join(coverage, file), 'utf8')));
    const loaded = texts.flatMap((text) =>
      (JSON.parse(text) as { result: { url: string }[] }).result.map(({ url }) => url),
    );
    expect(loaded).toContainEqual(expect.stringContaining('/cli/api/'));
    expect(loaded.filter((url) => /@nestjs|class-validator|\/database\./.test(url))).toEqual([]);
    await rm(coverage, { recursive: true });
  });

  it('says in one line why a database cannot be migrated', async () => {
    const other = await createTestDatabase('empty');
    await withClient(other.url, (client) => client.query('CREATE TABLE invoices ()'));
    const env = { ...variables, DATABASE_URL: other.url };
    const err = 'DATABASE_URL leads to tables of another program; an empty database is needed\n';
    expect(await run(['migrate'], '', env)).toEqual({ exitCode: 1, out: '', err });
    await other.drop();
  });

  it('says in one line that no service runs', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'pv-cli-'));
    const [status, psql] = [['status'], ['psql']].map((args) => start(args, { NODE_ENV: 'test' }, [], empty));
    expect(await status!.ended).toEqual({
      exitCode: 1,
      out: '',
      err: 'No service runs in this folder: start it, or set PV_ONBOARDING_URL and PV_ONBOARDING_API_KEY.\n',
    });
    expect(await psql!.ended).toEqual({
      exitCode: 1,
      out: '',
      err: 'No service runs in this folder: run `npm start` first, or set DATABASE_URL.\n',
    });
    expect(await readdir(empty)).toEqual([]);
    // This command may start a database of its own.
    await chmod(empty, 0o755);
    const checked = start(['check-remote', '--report', folder], { NODE_ENV: 'test' }, [], empty);
    const err = `${folder} exists: name a new file.\n`;
    expect(await checked.ended).toEqual({ exitCode: 2, out: '', err });
    await reserveFolder(join(empty, '.data'));
    const busy = await start(['check-remote'], { NODE_ENV: 'test' }, [], empty).ended;
    const starts = `Process ${process.pid} starts the service in this folder, or runs a command. Try again once it is ready.\n`;
    expect(busy).toEqual({ exitCode: 1, out: '', err: starts });
    await rm(empty, { recursive: true });
  });

  it('does not take the database of its folder for that of the service at PV_ONBOARDING_URL', async () => {
    const elsewhere = { NODE_ENV: 'test', PV_ONBOARDING_URL: 'http://127.0.0.1:9' };
    const refused = await Promise.all(
      [['erase', 'customer-4711', '--yes'], ['rederive'], ['migrate'], ['psql']].map((args) =>
        run(args, '', elsewhere),
      ),
    );
    for (const each of refused)
      expect(each).toEqual({
        exitCode: 2,
        out: '',
        err: 'PV_ONBOARDING_URL is set, but this command works on a database: set DATABASE_URL to the database of that service, or unset PV_ONBOARDING_URL.\n',
      });
    const keys = await run(['keys', 'list'], '', { ...elsewhere, PV_ONBOARDING_API_KEY: ADMIN_KEY });
    expect(keys.err).toContain('The service at http://127.0.0.1:9 does not respond');
    const given = await run(['rederive'], '', { ...variables, ...elsewhere });
    expect(given).toMatchObject({ exitCode: 0, err: 'the current rules change no state\n' });
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
    const { host, pathname } = new URL(database.url);
    expect(confirmed.err).toContain(
      `In the database ${pathname.slice(1)} on ${host}: this erases all personal data stored here for customer-to-erase`,
    );
    expect(JSON.parse(confirmed.out)).toMatchObject({ erased: { registrations: 1 } });
    expect(await users()).toHaveLength(0);
  });

  it('does not ask a script, which has no terminal', async () => {
    await client.locate('customer-to-erase-by-script');
    const args = ['erase', 'customer-to-erase-by-script'];
    const erased = await run([...args, '--json']);
    expect(erased).toMatchObject({ exitCode: 0, err: '' });
    expect(JSON.parse(erased.out)).toMatchObject({ erased: { registrations: 1 } });
    const again = await run([...args, '--json']);
    expect([again.exitCode, again.out, JSON.parse(again.err)]).toEqual([
      1,
      '',
      { code: 'not_found', detail: 'There is no user and no registration with this tenantReference' },
    ]);
  });

  it('follows the events, even when the service restarts', async () => {
    const [table, json] = [
      start(['events', 'tail', '--after', '0', '--types', 'session.started']),
      start(['events', 'tail', '--after', '0', '--types', 'session.started', '--json']),
    ];
    const first = await client.startNew();
    const second = await client.startNew();
    const isThere = (id: string) => () => table.output.out.includes(id) && json.output.out.includes(id);
    await waitFor('the past events', isThere(second.id), START_WITHIN_MS);
    await service.stop();
    await waitFor(
      'the loss of the stream',
      () => table.output.err.includes('; reconnecting'),
      START_WITHIN_MS,
    );
    service = await startService(new URL(service.url).port);
    const third = await client.startNew();
    await waitFor('the event after the restart', isThere(third.id), START_WITHIN_MS);
    for (const { child } of [table, json]) child.kill();
    await Promise.all([table.ended, json.ended]);
    const subjects = json.output.out
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { subject: string }).subject);
    expect(subjects).toEqual([first.id, second.id, third.id]);
    const lines = table.output.out.trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(
      new RegExp(`^ +\\d+ {2}\\d{4}-[\\d-]+ [\\d:]+Z {2}session.started +${first.id}$`),
    );
  });

  it('imports only what was confirmed, also if another version of the file is saved meanwhile', async () => {
    const file = join(folder, 'changed.csv');
    const contentOf = (reference: string) => `tenantReference,ean\n${reference},541448860004178064\n`;
    const importAfter = async (save: () => Promise<void>) => {
      await writeFile(file, contentOf('checked'));
      const { child, output, ended } = start(['import', file, '--invite'], variables, [TERMINAL]);
      await waitFor('the question', () => output.err.includes('Type yes to confirm'), START_WITHIN_MS);
      await save();
      child.stdin.end('yes\n');
      return ended;
    };
    const references = async () =>
      (await client.call<{ items: { tenantReference: string }[] }>('GET', '/users?ean=541448860004178064'))
        .body.items;
    const isRunning = async () =>
      (await client.call<{ items: object[] }>('GET', '/campaigns?status=running')).body.items.length > 0;

    const overwritten = await importAfter(() => writeFile(file, contentOf('changed')));
    expect(overwritten).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('changed.csv has changed since it was checked'),
    });
    expect([await references(), await isRunning()]).toEqual([[], false]);

    const replaced = await importAfter(async () => {
      await writeFile(`${file}.new`, contentOf('changed'));
      await rename(`${file}.new`, file);
    });
    expect(replaced).toMatchObject({
      exitCode: 0,
      err: expect.stringContaining('registers the customers of 1 row and invites the owners of 1 row.'),
    });
    expect(await references()).toMatchObject([{ tenantReference: 'checked' }]);
  });

  it('follows a campaign, even when the service restarts, until Ctrl-C', async () => {
    await sandbox.control.addFault({ kind: 'hold', operation: 'register_user', times: null });
    const file = join(folder, 'followed.csv');
    await writeFile(file, 'tenantReference,ean\nfollowed,541448860004178040\n');
    const { child, output, ended } = start(['import', file, '--yes']);
    const isSaid = (text: string) => () => output.err.includes(text);
    await waitFor('the progress', isSaid('0 of 1 rows'), START_WITHIN_MS);
    await service.stop('SIGKILL');
    // No worker takes the campaign up, so that it has not ended when the service responds again, however late that is.
    await withClient(database.url, (pg) =>
      pg.query(`UPDATE campaigns SET lease_token = NULL, lease_until = NULL, due_at = 'infinity'`),
    );
    await waitFor('the loss', isSaid('does not respond (ECONNREFUSED). Trying again'), START_WITHIN_MS);
    service = await startService(new URL(service.url).port);
    await waitFor('the return', isSaid('the service responds again'), START_WITHIN_MS);
    child.kill('SIGINT');
    const stopped = await ended;
    const [, id = ''] = /^the campaign is (\S+)$/m.exec(stopped.err)!;
    expect(stopped.exitCode).toBe(130);
    expect(stopped.err).toMatch(
      new RegExp(`The campaign continues[^]*campaigns show ${id}\n[^]*campaigns pause ${id}\n$`),
    );
    await sandbox.control.clearFaults();
  });

  it(`adopts ${EXISTING} users that exist at the remote service, and reports those that contradict`, async () => {
    const rows = (await sandbox.control.seed(EXISTING)).map(
      ({ userId, tenantReference, gridLocationId, ean, sessionId }) => ({
        tenantReference,
        user: { id: userId, gridLocations: [{ id: gridLocationId, ean }] },
        sessions: [{ id: sessionId }],
      }),
    );
    const file = join(folder, 'existing.ndjson');
    const adopt = async (lines: readonly object[]) => {
      await writeFile(file, lines.map((line) => JSON.stringify(line)).join('\n'));
      return run(['import', file, '--adopt', '--yes']);
    };
    const adopted = await adopt(rows);
    const registered = new RegExp(`registered +${EXISTING.toLocaleString('en')}\n`);
    expect(adopted).toMatchObject({ exitCode: 0, out: expect.stringMatching(registered) });
    const last = rows.at(-1)!;
    expect(await client.session(last.sessions[0]!.id)).toMatchObject({ userId: last.user.id });

    const half = EXISTING / 2;
    const others = rows.slice(half).map((row, index) => ({ ...row, user: rows[index]!.user }));
    const contradicting = await adopt([...rows.slice(0, half), ...others, rows[0]!]);
    expect(contradicting.exitCode).toBe(3);
    expect(contradicting.out).toContain(
      `adopt_contradicts: ${half} rows\n  lines ${half + 1}, ${half + 2}, ${half + 3}, `,
    );
    expect(contradicting.out).toMatch(new RegExp(`known +${half}\n`));
    expect(contradicting.out).toContain(
      `duplicate_row: 1 row\n  line ${EXISTING + 1}: Line 1 has the same reference\n`,
    );
  });

  it('ends quietly when the reader of its output has ended', async () => {
    const command = [process.execPath, ...argumentsFor('src/cli/main.ts'), 'events', 'tail', '--after', '0'];
    const script = '{ "$@"; echo "ended with $?" >&2; } | head -n 1';
    const options = { cwd: folder, env: { PATH: process.env.PATH, ...variables } };
    let isRunning = true;
    const piped = promisify(execFile)('sh', ['-c', script, 'sh', ...command], options).finally(
      () => (isRunning = false),
    );
    const endsAtNextEvent = async () => {
      await client.startNew();
      return !isRunning;
    };
    await waitFor('the end', endsAtNextEvent, START_WITHIN_MS);
    expect(await piped).toEqual({
      stdout: expect.stringMatching(/^ +\d+ .*\n$/),
      stderr: 'ended with 141\n',
    });
  });

  it('has the command of psql without the password', async () => {
    const { out, err, exitCode } = await run(['psql'], '', { ...variables, PATH: '/nowhere' });
    expect([exitCode, out]).toEqual([1, '']);
    const password = new URL(database.url).password;
    expect(password).not.toBe('');
    expect(err).not.toContain(password);
    expect(err).toMatch(/PGOPTIONS='-c role=pv_onboarding_reader .*' psql 'postgresql:\/\/\w+@127\.0\.0\.1:/);
    const DATABASE_DIRECT_URL = 'postgresql://reader:no%3Done@127.0.0.1:1/direct?sslmode=no-verify';
    const direct = await run(['psql'], '', { ...variables, DATABASE_DIRECT_URL, PATH: '/nowhere' });
    expect(direct.err).toContain(` psql 'postgresql://reader@127.0.0.1:1/direct?sslmode=require'`);
  });

  it.each([
    ['0', 0, ''],
    ['2', 1, 'docs/sql.md says what the user of DATABASE_URL needs'],
    ['3', 1, ''],
  ])('runs psql with the password, and explains its exit code %s', async (code, exitCode, text) => {
    await writeFile(join(folder, 'psql'), '#!/bin/sh\necho "$PGPASSWORD" $PGOPTIONS\nexit "$3"\n', {
      mode: 0o755,
    });
    const ended = await run(['psql', '--command', code], '', { ...variables, PATH: folder });
    const out = expect.stringContaining(`${new URL(database.url).password} -c role=pv_onboarding_reader -c `);
    expect(ended).toEqual({ exitCode, out, err: text && expect.stringContaining(text) });
  });
});

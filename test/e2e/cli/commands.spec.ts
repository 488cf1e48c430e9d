import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Command } from 'commander';
import { apiCommands } from '../../../src/cli/api/api-commands.js';
import { operationsOf, type Description } from '../../../src/cli/api/operation.rules.js';
import { findApi, ServiceApi } from '../../../src/cli/api/service-api.js';
import { printTable } from '../../../src/cli/api/table.js';
import { keysCommand } from '../../../src/cli/keys.command.js';
import { printVisibly } from '../../../src/cli/print.js';
import { report } from '../../../src/cli/report.js';
import { insertConsent } from '../../setup/consent.js';
import { newEan } from '../../setup/ean.js';
import { workbookOf } from '../../setup/workbook.js';
import { TestClient, type SessionAnswer } from '../../setup/client.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../setup/receivers/webhook-receiver.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox/sandbox.js';
import { startServiceProcess } from '../../setup/processes/service-process.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { ADMIN_KEY } from '../../setup/test-environment.js';
import type { TestProcess } from '../../setup/processes/test-process.js';
import { waitFor } from '../../setup/wait-for.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
/** Operations that no command here calls, with the reason. */
const CALLED_BY_NONE = {
  streamEvents: '`events tail`, which process.spec runs',
  redeliverWebhookDelivery: '`webhooks redeliver ID --delivery-ids`',
  readSessionOfUser: '`sessions show`',
};

let database: TestDatabase;
let sandbox: TestSandbox;
let service: TestProcess;
let receiver: WebhookReceiver;
let client: TestClient;
let session: SessionAnswer;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  sandbox = await startSandbox();
  service = await startServiceProcess({ DATABASE_URL: database.url, ...sandbox.environment });
  receiver = await startWebhookReceiver();
  folder = await mkdtemp(join(tmpdir(), 'pv-cli-'));
  client = new TestClient(service.url, ADMIN_KEY);
  session = (await client.start(await client.locate('customer-4711'), { brand: 'sunward' })).body;
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
  await sandbox.stop();
  await database.drop();
  await rm(folder, { recursive: true });
});

interface Run {
  readonly out: string;
  readonly err: string;
  readonly exitCode: number;
}

const treeOf = (variables: Record<string, string>, isJson = false): Command => {
  const program = new Command();
  const findService = () => findApi(variables);
  const withoutDatabase = () => {
    throw new Error('no command here needs the database');
  };
  for (const command of apiCommands(findService)) program.addCommand(command);
  return printVisibly(program.addCommand(keysCommand(withoutDatabase, findService)), isJson);
};
const leavesOf = (command: Command, path = ''): string[] =>
  command.commands.length === 0
    ? [path.trim()]
    : command.commands.flatMap((sub) => leavesOf(sub, `${path} ${sub.name()}`));
const readDescription = async () =>
  JSON.parse(await readFile(new URL('../../../openapi.json', import.meta.url), 'utf8')) as Description;
const ran = new Set<string>();
const calls = jest.spyOn(ServiceApi.prototype, 'send').mock.calls;

/** Runs a command as src/cli/main.ts does, in this process and without a terminal. */
async function run(args: string[], key = ADMIN_KEY, url = service.url): Promise<Run> {
  const out: string[] = [];
  const err: string[] = [];
  const take = (lines: string[]) => (text: unknown) => lines.push(String(text)) > 0;
  const spies = [
    jest.spyOn(console, 'log').mockImplementation(take(out)),
    jest.spyOn(console, 'error').mockImplementation(take(err)),
    jest.spyOn(process.stderr, 'write').mockImplementation(take(err)),
  ];
  const isJson = args.includes('--json');
  const before = { exitCode: process.exitCode, isTTY: process.stdin.isTTY };
  const interrupts = process.listenerCount('SIGINT');
  process.exitCode = 0;
  process.stdin.isTTY = false;
  try {
    const program = treeOf({ PV_ONBOARDING_URL: url, PV_ONBOARDING_API_KEY: key }, isJson);
    await program.parseAsync(args, { from: 'user' });
    ran.add(leavesOf(program).find((path) => `${args.join(' ')} `.startsWith(`${path} `))!);
    return { out: out.join('\n'), err: err.join('\n'), exitCode: Number(process.exitCode) };
  } catch (error) {
    const exitCode = report(error, isJson);
    return { out: out.join('\n'), err: err.join('\n'), exitCode };
  } finally {
    process.exitCode = before.exitCode;
    process.stdin.isTTY = before.isTTY;
    for (const spy of spies) spy.mockRestore();
    // A command that has ended ignores no Ctrl-C.
    expect(process.listenerCount('SIGINT')).toBe(interrupts);
  }
}

/** Runs a command in both forms. Checks the width of the table and returns both outputs. */
async function runBoth(...args: string[]) {
  const table = await run(args);
  const json = await run([...args, '--json']);
  expect([table.exitCode, json.exitCode, json.err]).toEqual([0, 0, '']);
  expect(table.out.split('\n').filter((line) => line.length > 100)).toEqual([]);
  return { table: table.out, note: table.err, json: JSON.parse(json.out) };
}

const openRegistration = async (tenantReference: string): Promise<string> => {
  // Only of this registration: those of other tests are sent again meanwhile.
  const contains = `"${tenantReference}"`;
  await sandbox.control.addFault({ kind: 'reset', operation: 'register_user', effect: true, contains });
  const user = { tenantReference, gridLocations: [{ ean: newEan() }] };
  const { status, body } = await client.call<{ id: string }>('POST', '/users', user);
  expect(status).toBe(202);
  return body.id;
};

describe('a command', () => {
  it('lists and shows users', async () => {
    const list = await runBoth('users', 'list', '--tenant-reference', 'customer-4711');
    expect(list.json).toEqual((await client.call('GET', '/users?tenantReference=customer-4711')).body);
    expect(list.table).toMatch(/^ID +AGE +EAN +REFERENCE\n/);
    expect(list.table).toMatch(new RegExp(`^${session.userId} +\\d+[sm] +8716\\d{14} +customer-4711$`, 'm'));
    const show = await runBoth('users', 'show', session.userId);
    expect(show.json).toEqual((await client.call('GET', `/users/${session.userId}`)).body);
    expect(show.table).toContain(session.gridLocationId);
  });

  it('aligns columns by the characters that people see', () => {
    const log = jest.spyOn(console, 'log').mockImplementation(() => {});
    printTable({ NAME: ([name]) => name, AT: ([, at]) => at }, [
      ['🌞🌞🌞', 1],
      ['ab', 22],
      ['é', null],
    ] as const);
    expect(log.mock.calls.flat()).toEqual(['NAME  AT', '🌞🌞🌞   1', 'ab    22', 'é     -']);
    log.mockRestore();
  });

  it('filters by metadata, and names the next page', async () => {
    for (const [at, channel] of ['web', 'web', 'shop'].entries()) {
      const { body } = await client.start(await client.locate(`channel-${at}`), { metadata: { channel } });
      // Reads the session now: the list is in the order of changes, and a later first read may be a change.
      await client.call('POST', `/onboarding/pv/${body.id}/refresh`);
    }
    const web = await runBoth('sessions', 'list', '--metadata', 'channel=web');
    expect(web.json.items).toHaveLength(2);
    const first = await run(['sessions', 'list', '--metadata', 'channel=web', '--limit', '1']);
    const [, cursor = ''] = /there are more: add --cursor (\S+)/.exec(first.err)!;
    const second = await run(['sessions', 'list', '--metadata', 'channel=web', '--cursor', cursor]);
    expect(second.out.split('\n')).toHaveLength(2);
    expect(second.out).toContain('channel-1');
    expect((await run(['sessions', 'list', '--metadata', 'channel=fax'])).err).toBe('none');
    await client.start(await client.locate('channel-=='), { metadata: { channel: 'a=b=c', 'a & b': '+' } });
    const withMarks = await runBoth('sessions', 'list', '--metadata', 'channel=a=b=c', '--metadata', 'x=y');
    expect(withMarks.json.items).toEqual([]);
    for (const metadata of ['channel=a=b=c', 'a & b=+'])
      expect((await run(['sessions', 'list', '--metadata', metadata])).out).toContain('channel-==');
  });

  it('lists, shows and revokes invitations without their links, and counts them', async () => {
    const gridLocationId = await client.locate('invited');
    const { body } = await client.call<{ id: string; url: string }>('POST', '/invitations', {
      gridLocationId,
    });
    const list = await runBoth('invitations', 'list', '--state', 'invited');
    expect(list.table).toMatch(new RegExp(`^${body.id} +invited +\\d+s +- +invited$`, 'm'));
    const show = await runBoth('invitations', 'show', body.id);
    expect(show.json.url).toBe(body.url);
    expect(show.table).not.toContain(body.url);
    expect((await runBoth('invitations', 'link', body.id)).json.url).toBe(body.url);
    expect((await run(['invitations', 'qr', body.id])).out).toContain('<svg');
    const code = await runBoth('invitations', 'code', body.id);
    expect(code.json).toMatchObject({ code: expect.stringMatching(/^[A-Z]{8}$/) });
    expect((await run(['invitations', 'change', body.id, '--locale', 'de'])).out).toContain('locale: de');
    expect((await run(['invitations', 'remind', body.id])).exitCode).toBe(0);
    expect((await run(['invitations', 'message', body.id, 'sent', 'email'])).exitCode).toBe(0);
    expect((await run(['invitations', 'withdraw', body.id])).err).toContain('invitation_conflict');
    await insertConsent(database.open(), body.id);
    expect((await run(['invitations', 'withdraw', body.id])).out).toContain('state: declined');
    const hits = await runBoth('search', 'INVIT');
    expect(hits.json.items).toContainEqual(expect.objectContaining({ tenantReference: 'invited' }));
    expect((await run(['invitations', 'revoke', body.id])).out).toContain('state: revoked');
    const funnel = await runBoth('funnel', '--by', 'day');
    expect(funnel.json.items).toMatchObject([{ invited: 1, opened: 0, online: 0 }]);
    expect((await runBoth('brands')).json.items).toContainEqual({
      object: 'brand',
      id: 'sunward',
      name: 'sunward',
    });
  });

  it('imports a file after a dry run of it, and fails if a row did not end well', async () => {
    const file = join(folder, 'customers.csv');
    const header = 'tenantReference;ean\n';
    await writeFile(file, `${header}imported;541448860004178019\nrounded;5,41449E+17`);
    const report = /accepted +1\ninvalid +1[^]*ean_rounded: 1 row\n {2}line 3, ean: [^\n]+digits/;
    const dry = await run(['import', file, '--dry-run', '--name', 'Autumn']);
    expect(dry).toMatchObject({ exitCode: 3, out: expect.stringMatching(report) });
    const unconfirmed = await run(['import', file]);
    expect(unconfirmed).toMatchObject({ exitCode: 2, out: expect.stringMatching(report) });
    expect(unconfirmed.err).toMatch(/nothing was imported[^]*--yes/i);
    const asJson = await run(['import', file, '--json']);
    expect(asJson).toMatchObject({ exitCode: 2, err: expect.stringContaining('"code":"not_confirmed"') });
    expect(JSON.parse(asJson.out)).toMatchObject({ status: 'checked', counts: { accepted: 1, invalid: 1 } });
    expect((await run(['users', 'list', '--tenant-reference', 'imported'])).err).toBe('none');

    const imported = await run(['import', file, '--name', 'Autumn', '--invite', '--yes']);
    expect(imported.out).toMatch(new RegExp(`${report.source}[^]*invalid +1\nregistered +1`));
    expect(imported).toMatchObject({ exitCode: 3, err: expect.stringMatching(/^2 of 2 rows, finished/m) });
    const id = /campaigns result ([0-9a-f-]{36})$/.exec(imported.out)![1]!;
    const show = await runBoth('campaigns', 'show', id);
    expect(show.json).toMatchObject({ status: 'finished', counts: { registered: 1, invalid: 1 } });
    const list = await runBoth('campaigns', 'list', '--status', 'finished');
    expect(list.table).toMatch(/finished +\d+[sm] +2 +Autumn$/m);
    const output = join(folder, 'result.csv');
    await run(['campaigns', 'result', id, '--output', output]);
    expect(await readFile(output, 'utf8')).toMatch(/registered/);
    expect((await stat(output)).mode & 0o777).toBe(0o600);
    await writeFile(output, 'of another campaign');
    const existing = await run(['campaigns', 'result', id, '--output', output]);
    expect(existing).toMatchObject({ exitCode: 1, err: expect.stringContaining('file already exists') });
    expect(await readFile(output, 'utf8')).toBe('of another campaign');
    const other = join(folder, 'other.csv');
    expect((await run(['campaigns', 'result', UNKNOWN, '--output', other])).err).toContain('not_found');
    await expect(stat(other)).rejects.toMatchObject({ code: 'ENOENT' });

    await writeFile(file, `${header}imported;541448860004178019`);
    const again = await run(['import', file]);
    expect(again).toMatchObject({ exitCode: 0, out: expect.stringMatching(/nothing is to be done$/) });
    const known = await run(['import', file, '--json', '--yes']);
    expect(known).toMatchObject({ exitCode: 0, err: '' });
    expect(JSON.parse(known.out)).toMatchObject({ status: 'checked', counts: { known: 1 } });
    const invited = await run(['import', file, '--json', '--invite', '--yes']);
    expect(invited).toMatchObject({ exitCode: 0, err: '' });
    expect(JSON.parse(invited.out)).toMatchObject({ status: 'finished', counts: { known: 1 } });
    await writeFile(file, `${header}rounded;5,41449E+17`);
    const nothing = await run(['import', file, '--yes']);
    expect(nothing).toMatchObject({ exitCode: 3, err: expect.stringContaining('No row can be imported') });
    for (const [path, why] of [
      [join(folder, 'missing.csv'), 'cannot be read'],
      [folder, `${folder} is a folder`],
      ['/dev/null', '/dev/null is not a file'],
      ['-', '- is not a file'],
    ] as const)
      expect(await run(['import', path])).toMatchObject({ exitCode: 1, err: expect.stringContaining(why) });
    await sandbox.control.addFault({ kind: 'answer', operation: 'register_user', status: 422, times: 1 });
    await writeFile(file, `${header}refused-row;541448860004178033`);
    const rejected = await run(['import', file, '--yes']);
    expect(rejected.out).toMatch(/registration_rejected: 1 row\n {2}line 2: Not registered/);
    expect(rejected.exitCode).toBe(3);
  });

  it('imports a sheet of a workbook by the names that its columns have', async () => {
    const file = join(folder, 'klanten.xlsx');
    const rows = [
      ['Klantnummer', 'EAN-code', 'Straat'],
      ['of-excel', '541448860004178019', 'Dorp 1'],
      ['of-excel-2', { xml: '<c><v>541448860004178040</v></c>' }, { xml: '<c s="1"><v>45000</v></c>' }],
    ];
    await writeFile(file, workbookOf({ Klanten: rows, Lijsten: [['x']] }));
    const several = await run(['import', file]);
    expect(several).toMatchObject({ exitCode: 1, err: expect.stringContaining('“Klanten”, “Lijsten”') });
    const other = await run(['import', file, '--sheet', 'klanten']);
    expect(other.err).toContain('no sheet “klanten”');
    const unnamed = await run(['import', file, '--sheet', 'Klanten']);
    expect(unnamed.err).toContain('columns=Klantnummer:tenantReference,EAN-code:ean');
    const columns = 'klantnummer=tenantReference,EAN-code=ean,Straat=Metadata.Since';
    const options = ['--sheet', 'Klanten', '--columns', columns];
    const dry = await run(['import', file, ...options, '--dry-run']);
    expect(dry.out).toMatch(/accepted +1\ninvalid +1[^]*ean_rounded: 1 row\n {2}line 3, EAN-code: /);
    const imported = await run(['import', file, ...options, '--yes']);
    expect(imported).toMatchObject({ exitCode: 3, out: expect.stringMatching(/registered +1/) });
    const kept = [
      '--sheet',
      'Klanten',
      '--columns',
      columns.replace('EAN-code=ean', 'EAN-code=metadata.ean'),
    ];
    expect((await run(['import', file, ...kept])).err).toContain('“EAN-code” has in row 3 a number of 16');
    await writeFile(file, Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0, 0, 0, 0]));
    expect((await run(['import', file])).err).toContain('old version of Excel');
    const csv = join(folder, 'named.csv');
    await writeFile(csv, 'Klantnummer;EAN-code\nof-csv;541448860004178057');
    expect((await run(['import', csv, '--sheet', 'A'])).err).toContain('no workbook');
    const named = await run([
      'import',
      csv,
      '--columns',
      'Klantnummer=tenantReference,EAN-code=ean',
      '--yes',
    ]);
    expect(named.out).toMatch(/registered +1/);
  });

  it('prints ten lines of each problem, and lists all rows with it', async () => {
    const file = join(folder, 'faulty.csv');
    const rows = Array.from({ length: 2_000 }, (_, row) => `faulty-${row},54144882004186501`);
    await writeFile(file, ['tenantReference,ean', ...rows, ',541448820041865017'].join('\n'));
    const { out, exitCode } = await run(['import', file, '--dry-run']);
    expect(exitCode).toBe(3);
    expect(out).toMatch(
      /ean_length: 2,000 rows\n {2}lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ean: [^\n]+\n {2}more: campaigns rows \S+ --problem ean_length\n/,
    );
    expect(out).toMatch(
      /required: 1 row\n {2}line 2002, tenantReference: The customer reference is missing\n/,
    );
    expect(out.split('\n').length).toBeLessThan(20);
    const [, id = ''] = /campaigns result (\S+)$/.exec(out)!;
    const all = await run(['campaigns', 'rows', id, '--status', 'invalid', '--limit', '2']);
    expect(all.out).toMatch(/^LINE +STATUS +EAN +REFERENCE +PROBLEMS\n2 +invalid +- +faulty-0 +ean: .+\n3 /);
    const [, cursor = ''] = /there are more: add --cursor (\S+)/.exec(all.err)!;
    const next = await run(['campaigns', 'rows', id, '--cursor', cursor, '--limit', '1', '--json']);
    expect(JSON.parse(next.out)).toMatchObject({ items: [{ line: 4 }] });
    const required = await runBoth('campaigns', 'rows', id, '--problem', 'required');
    expect(required.json).toMatchObject({ items: [{ line: 2_002 }], next: null });
  });

  it('pauses, resumes, cancels and deletes campaigns', async () => {
    const fault = await sandbox.control.addFault({ kind: 'hold', operation: 'register_user', times: 1 });
    const csv = { 'content-type': 'text/csv' };
    const row = 'tenantReference,ean\nheld,541448860004178026';
    const held = (await client.call<{ id: string }>('POST', '/campaigns', row, csv)).body.id;
    expect((await run(['campaigns', 'pause', held])).out).toContain('status: paused');
    expect((await run(['campaigns', 'resume', held])).out).toContain('status: running');
    expect((await run(['campaigns', 'cancel', held, '--yes'])).out).toContain('status: cancelled');
    await sandbox.control.release(fault.id);
    await sandbox.control.clearFaults();
    expect((await run(['campaigns', 'pause', held])).err).toContain('campaign_conflict');
    await waitFor('it has ended', async () => {
      const { body } = await client.call<{ finishedAt: string | null }>('GET', `/campaigns/${held}`);
      return body.finishedAt !== null;
    });
    expect((await run(['campaigns', 'delete', held, '--yes'])).err).toBe(`deleted ${held}`);
    expect((await client.call('GET', `/campaigns/${held}`)).status).toBe(404);
  });

  it('adopts what exists at the remote service', async () => {
    const [existing] = await sandbox.control.seed(1);
    const { userId, tenantReference, gridLocationId, ean, sessionId } = existing!;
    const user = { id: userId, gridLocations: [{ id: gridLocationId, ean }] };
    const file = join(folder, 'existing.ndjson');
    const write = (session: string) =>
      writeFile(file, JSON.stringify({ tenantReference, user, sessions: [{ id: session }] }));
    await write(sessionId);
    const adopted = await run(['import', file, '--adopt', '--yes']);
    expect(adopted).toMatchObject({ exitCode: 0, out: expect.stringMatching(/registered +1/) });
    expect(await client.session(sessionId)).toMatchObject({ userId });
    await write(UNKNOWN);
    const unread = await run(['import', file, '--adopt', '--yes']);
    expect(unread).toMatchObject({ exitCode: 3, out: expect.stringMatching(/session_not_read: 1 row\n/) });
  });

  it('shows what a customer waits for, by reference and by EAN', async () => {
    const gridLocationId = await client.locate('on the telephone');
    const { body } = await client.start(gridLocationId, { brand: 'sunward' });
    const show = await runBoth('customers', 'show', '--reference', 'on the telephone');
    expect(show.json.items).toMatchObject([{ waitsFor: 'owner', cases: [{ gridLocationId }] }]);
    expect(show.table).toMatch(/^waitsFor: owner$/m);
    expect(show.table).toMatch(new RegExp(`^${body.id} +sunward +awaiting_owner +\\d+s +0$`, 'm'));
    const { ean } = show.json.items[0].cases[0] as { ean: string };
    const byEan = await runBoth('customers', 'show', '--ean', ean);
    expect(byEan.json.items).toMatchObject([{ tenantReference: 'on the telephone' }]);
    expect(await run(['customers', 'show'])).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('Give --reference or --ean.'),
    });
    const list = await runBoth('customers', 'list', '--brand', 'sunward', '--limit', '1');
    expect(list.json.items).toMatchObject([{ tenantReference: 'on the telephone', brands: ['sunward'] }]);
    expect(list.table).toMatch(/^REFERENCE +WAITS FOR +SINCE +CAUSE +BRANDS\non the telephone +owner +\d+s/);
  });

  it('lists starts, also those that failed', async () => {
    const gridLocationId = await client.locate('refused');
    await sandbox.control.addFault({ kind: 'answer', operation: 'start_session', status: 422, times: 1 });
    expect((await client.call('POST', `/onboarding/pv/${gridLocationId}`)).status).toBe(422);
    const failed = await runBoth('sessions', 'starts', '--status', 'failed');
    expect(failed.json.items).toMatchObject([{ gridLocationId, status: 'failed' }]);
    expect(failed.table).toMatch(new RegExp(`^${gridLocationId} +\\d+s +failed +\\S`, 'm'));
  });

  it('shows a session with its timeline, and its startUrl only as JSON', async () => {
    await sandbox.control.complete(session.id, { brand: 'sunward' });
    await client.untilState(session.id, 'online');
    const inverter = (await client.session(session.id)).inverters[0]!.id;
    const list = await runBoth('sessions', 'list', '--state', 'online');
    expect(list.table).toMatch(new RegExp(`^${session.id} +online +\\d+s +sunward +customer-4711$`, 'm'));
    const show = await runBoth('sessions', 'show', session.id);
    expect(show.table).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ {2}started /m);
    expect(show.table).toMatch(/Z {2}online +was awaiting_\w+; finished_with_inverters$/m);
    expect(show.table).toMatch(new RegExp(`Z {2}inverter.online +${inverter}$`, 'm'));
    expect(show.json.session).toMatchObject({ id: session.id, inverters: [{ id: inverter }] });
    expect(show.json.events.map(({ type }: { type: string }) => type)).toContain('pv.session.online.v1');
    const inverters = await runBoth('inverters', 'list', '--user-id', session.userId);
    expect(inverters.table).toContain(`${inverter}  ${session.id}`);
    expect((await runBoth('inverters', 'show', inverter)).json).toMatchObject({ sessionId: session.id });

    const open = await client.startNew();
    expect(open.startUrl).toMatch(/^http/);
    const shown = await runBoth('sessions', 'show', open.id);
    expect(shown.json.session.startUrl).toBe(open.startUrl);
    expect(shown.table).toMatch(/^startUrl: not shown here; --json has it$/m);
    const refreshed = await runBoth('sessions', 'refresh', open.id);
    expect(refreshed.json.startUrl).toBe(open.startUrl);
    for (const text of [shown.table, refreshed.table]) expect(text).not.toContain(open.startUrl);
  });

  it('decides about registrations', async () => {
    const [toDiscard, toRetry, toResolve] = [
      await openRegistration('to-discard'),
      await openRegistration('to-retry'),
      await openRegistration('to-resolve'),
    ];
    const list = await runBoth('registrations', 'list', '--status', 'uncertain');
    expect(list.table).toMatch(new RegExp(`^${toDiscard} +uncertain +\\d+s +1 +to-discard$`, 'm'));
    const show = await runBoth('registrations', 'show', toResolve);
    expect(show.table).toMatch(/^lastError: \S/m);

    const discarded = await run(['registrations', 'discard', toDiscard, '--yes', '--json']);
    expect(JSON.parse(discarded.out)).toMatchObject({ id: toDiscard, status: 'discarded' });
    const late = await run(['registrations', 'retry', toDiscard, '--yes']);
    expect([late.exitCode, late.out]).toEqual([1, '']);
    expect(late.err).toMatch(/^registration_conflict: /);

    const retried = await run(['registrations', 'retry', toRetry, '--yes']);
    expect(retried.out).toMatch(/^status: (pending|registered)$/m);
    // Waits for the call of the retried registration, which could otherwise get the fault of the next registration.
    await waitFor('the call', async () =>
      (await run(['registrations', 'show', toRetry])).out.includes('status: registered'),
    );

    const { gridLocations } = show.json as { gridLocations: { ean: string }[] };
    const file = join(folder, 'user.json');
    // The EAN is a number without quotes, as in responses of the remote service.
    const location = `{"id":"7c1f6a0e-93b2-4e54-8c77-0c8f7f2a9b22","ean":${gridLocations[0]!.ean}}`;
    const userWith = (reference: string) =>
      `{"id":"0f6a4b6e-4a51-4c5e-9d3d-2f6f8c1f0a11","tenantReference":"${reference}","gridLocations":[${location}]}`;
    await writeFile(file, userWith('another'));
    const refused = await run(['registrations', 'resolve', toResolve, file, '--yes']);
    expect([refused.exitCode, refused.out]).toEqual([1, '']);
    expect(refused.err).toMatch(/^invalid_request: .*\n {2}tenantReference: /);
    await writeFile(file, userWith('to-resolve'));
    const resolved = await run(['registrations', 'resolve', toResolve, file, '--yes']);
    expect(resolved.out).toMatch(/^status: registered$/m);
  });

  it('decides about all registrations that match', async () => {
    const many = [await openRegistration('many-1'), await openRegistration('many-2')];
    const { createdAt } = (await client.call<{ createdAt: string }>('GET', `/registrations/${many[0]}`)).body;
    const matching = ['--status', 'uncertain', '--created-since', createdAt, '--last-error', 'was lost'];
    const none = await run([
      'registrations',
      'discard-all',
      ...matching,
      '--created-before',
      createdAt,
      '--yes',
    ]);
    expect([none.exitCode, none.out]).toEqual([0, 'decided: 0\nrefused: 0']);
    const retried = await run(['registrations', 'retry-all', ...matching, '--yes', '--json']);
    expect([retried.exitCode, JSON.parse(retried.out)]).toEqual([0, { decided: 2, refused: [] }]);
    for (const id of many) {
      const { body } = await client.call<{ status: string }>('GET', `/registrations/${id}`);
      expect(['pending', 'registered']).toContain(body.status);
    }
  });

  it('works on what is stalled, and does an operation for many ids', async () => {
    const ids = [await openRegistration('of-many-1'), await openRegistration('of-many-2')];
    await waitFor('a stall', async () => (await run(['stalled', 'list'])).out.includes(ids[0]!));
    const worked = await run(['stalled', 'work', ids[0]!, 'registration', '--assignee', 'Ada', '--json']);
    expect(JSON.parse(worked.out)).toMatchObject({ id: ids[0], assignee: 'Ada', note: null });
    const action = ['discardRegistration', ids.join(','), 'made twice'];
    const { id } = JSON.parse((await run(['bulk-actions', 'create', ...action, '--json'])).out);
    await waitFor(
      'a result for each id',
      async () => (await runBoth('bulk-actions', 'show', id)).json.finishedAt !== null,
    );
    expect((await runBoth('bulk-actions', 'show', id)).json.counts).toMatchObject({ done: 2, skipped: 0 });
  });

  it('fails if one of the registrations that match cannot be decided about', async () => {
    // Only this one: those of other tests are sent again meanwhile.
    await sandbox.control.addFault({ kind: 'hold', operation: 'register_user', contains: '"being-sent"' });
    const user = { tenantReference: 'being-sent', gridLocations: [{ ean: newEan() }] };
    const registered = client.call('POST', '/users', user);
    const { id, createdAt } = await waitFor('the call', async () => {
      const { body } = await client.call<{ items: { id: string; createdAt: string }[] }>(
        'GET',
        '/registrations?tenantReference=being-sent',
      );
      return body.items[0];
    });
    // Registrations of other tests may be pending, too.
    const matching = ['--status', 'pending', '--created-since', createdAt];
    const retryAll = (...more: string[]) =>
      run(['registrations', 'retry-all', ...matching, '--yes', ...more]);
    const json = await retryAll('--json');
    expect([json.exitCode, JSON.parse(json.out)]).toEqual([
      1,
      { decided: 0, refused: [expect.objectContaining({ id, code: 'registration_conflict' })] },
    ]);
    const { exitCode, out } = await retryAll();
    expect([exitCode, out]).toEqual([1, expect.stringMatching(new RegExp(`^refused: 1\n[^]*^${id} `, 'm'))]);
    await sandbox.control.clearFaults();
    await registered;
  });

  it('manages webhook endpoints, and prints a secret once', async () => {
    const created = await run([
      'webhooks',
      'create',
      `${receiver.url}/path-of-a-receiver`,
      '--types',
      'session.online, session.lost',
    ]);
    expect(created.out).toMatch(/^whsec_\S+$/);
    const id = /^created (\S+);/.exec(created.err)![1]!;
    expect((await client.call('GET', `/webhook-endpoints/${id}`)).body).toMatchObject({
      types: ['pv.session.online.v1', 'pv.session.lost.v1'],
    });
    const rotated = await run(['webhooks', 'rotate-secret', id, '--overlap-seconds', '0', '--yes']);
    expect(rotated.out).toMatch(/^whsec_\S+$/);
    expect(rotated.out).not.toBe(created.out);
    const headers = join(folder, 'headers.json');
    await writeFile(headers, '{"X-Team":"solar"}');
    const updated = await run(['webhooks', 'update', id, '--types', 'all', '--headers-file', headers]);
    expect(updated.out).toMatch(/^headerNames:\n {2}- X-Team$/m);
    expect(updated.out).toMatch(/^types: \[\]$/m);

    const list = await runBoth('webhooks', 'list');
    expect(list.table).toMatch(new RegExp(`^${id} +enabled +\\d+ +- +${receiver.url}$`, 'm'));
    expect((await runBoth('webhooks', 'show', id)).table).toContain('path-of-a-receiver');
    await waitFor('an event for it', async () => {
      await client.startNew();
      const deliveries = await run(['webhooks', 'deliveries', '--endpoint-id', id, '--status', 'delivered']);
      return deliveries.out.includes('session.started');
    });
    const deliveries = await runBoth('webhooks', 'deliveries', '--endpoint-id', id, '--status', 'delivered');
    expect(deliveries.table).toMatch(/^[0-9a-f-]{36} +delivered +1 +204 +\d+s +session\.started$/m);
    const [delivery] = deliveries.json.items as { id: string }[];
    const shown = await runBoth('webhooks', 'delivery', delivery!.id);
    expect(shown.table).toMatch(/^lastStatus: 204$/m);
    expect(shown.json).toEqual((await client.call('GET', `/webhook-deliveries/${delivery!.id}`)).body);
    const redelivered = await runBoth('webhooks', 'redeliver', id, '--delivery-ids', delivery!.id);
    expect(redelivered).toMatchObject({ table: '1 event is sent again', json: { redelivered: 1 } });
    const nothing = await run(['webhooks', 'redeliver', id]);
    expect([nothing.exitCode, nothing.err]).toEqual([1, expect.stringContaining('invalid_request: ')]);

    expect((await runBoth('webhooks', 'test', id)).json).toMatchObject({ delivered: true, status: 204 });
    receiver.answer = () => ({ status: 500 });
    const failed = await run(['webhooks', 'test', id]);
    expect(failed).toMatchObject({ exitCode: 1, out: expect.stringMatching(/^delivered: false$/m) });
    await run(['webhooks', 'update', id, '--disable']);
    expect((await run(['webhooks', 'list'])).out).toMatch(new RegExp(`^${id} +disabled `, 'm'));

    expect(await run(['webhooks', 'delete', id, '--yes'])).toEqual({
      out: '',
      err: `deleted ${id}`,
      exitCode: 0,
    });
    expect((await run(['webhooks', 'show', id])).err).toMatch(/^not_found: /);

    const another = JSON.parse((await run(['webhooks', 'create', receiver.url, '--json'])).out) as {
      id: string;
    };
    const deleted = await run(['webhooks', 'delete', another.id, '--yes', '--json']);
    expect(deleted).toMatchObject({ err: '', exitCode: 0 });
    expect(JSON.parse(deleted.out)).toEqual({ id: another.id, deleted: true });
  });

  it('shows the status', async () => {
    const { table, json } = await runBoth('status');
    expect(table).toMatch(/^remote:\n {2}health: healthy$/m);
    expect(Object.keys(json)).toEqual(Object.keys((await client.call('GET', '/status')).body));
  });

  it('probes the credentials', async () => {
    const valid = await runBoth('credentials', 'probe');
    expect(valid.table).toMatch(/^outcome: valid$/m);
    expect(valid.json).toMatchObject({ outcome: 'valid', lastError: null, nextAttemptAt: null });
  });

  it('creates, lists and revokes API keys at the address', async () => {
    const created = await run(['keys', 'create', 'a script', '--scopes', 'users:read', '--json']);
    const { id, key } = JSON.parse(created.out) as { id: string; key: string };
    expect((await run(['users', 'list'], key)).exitCode).toBe(0);
    await waitFor('its use to be noted', async () => {
      const { body } = await client.call<{ items: { id: string; lastUsedAt: string | null }[] }>(
        'GET',
        '/api-keys',
      );
      return body.items.find((item) => item.id === id)?.lastUsedAt;
    });
    const list = await runBoth('keys', 'list');
    expect(list.json).toEqual((await client.call('GET', '/api-keys')).body);
    expect(list.table).toMatch(new RegExp(`^${id} +\\d+s +\\d+s +- +- +a script +users:read$`, 'm'));
    const revoked = await run(['keys', 'revoke', id, '--json']);
    expect([JSON.parse(revoked.out), revoked.err]).toEqual([{ id, revoked: true }, '']);
    await waitFor('the key to be refused', async () => (await run(['users', 'list'], key)).exitCode === 1);
    expect((await run(['keys', 'revoke', UNKNOWN, '--yes'])).err).toBe(`There is no API key ${UNKNOWN}`);
  });

  it('exports and erases a user, after it has registered one', async () => {
    const file = join(folder, 'new-user.json');
    await writeFile(file, '{"tenantReference":"by-hand","gridLocations":[{"ean":541448860004178040}]}');
    const registered = await run(['users', 'register', file]);
    const id = /^id: (\S+)$/m.exec(registered.out)![1]!;
    const exported = await run(['users', 'export', id, '--json']);
    expect(JSON.parse(exported.out)).toMatchObject({ data: { users: [{ tenantReference: 'by-hand' }] } });
    const erased = await run(['users', 'erase', id, '--yes']);
    expect(erased.out).toContain(`userId: ${id}`);
    expect((await run(['users', 'show', id])).err).toMatch(/^not_found: /);
  });

  it('invites an owner and starts a session, without showing the links', async () => {
    const gridLocationId = await client.locate('by-command');
    const invited = await run([
      'invitations',
      'create',
      '--tenant-reference',
      'by-command',
      '--brands',
      'sunward, other',
      '--expected',
      '{"inverters":2}',
      '--metadata',
      'label=Barn',
      '--json',
    ]);
    expect(JSON.parse(invited.out)).toMatchObject({
      gridLocationId,
      brands: ['sunward', 'other'],
      expected: { inverters: 2 },
      metadata: { label: 'Barn' },
      url: expect.any(String),
    });
    const { table, json } = await runBoth('sessions', 'start', gridLocationId, '--brand', 'sunward');
    expect(table).toMatch(/^startUrl: not shown here; --json has it$/m);
    expect(table).not.toContain(json.startUrl);
    const anew = await run([
      'sessions',
      'start',
      gridLocationId,
      '--brand',
      'sunward',
      '--no-reuse',
      '--json',
    ]);
    expect(JSON.parse(anew.out).id).not.toBe(json.id);
    const timeline = await runBoth('sessions', 'timeline', json.id);
    expect(timeline.json.items.length).toBeGreaterThan(0);
    const { json: place } = await runBoth('grid-locations', 'case', gridLocationId);
    expect(place).toMatchObject({ gridLocationId, tenantReference: 'by-command' });
    expect((await run(['sessions', 'start', gridLocationId, '--metadata', 'x'])).exitCode).toBe(2);
    expect((await run(['invitations', 'create', '--expected', '{'])).exitCode).toBe(2);
  });

  it('exists for every operation that needs no argument', async () => {
    const leaves = leavesOf(treeOf({}));
    const { paths } = await readDescription();
    const withoutArguments = operationsOf({ paths }).filter(
      ({ method, inputs }) => method === 'get' && !inputs.some(({ isRequired }) => isRequired),
    );
    for (const { command } of withoutArguments.filter((each) => !ran.has(each.command))) {
      if (!leaves.includes(command) || command === 'events tail') continue;
      const { json, table } = await runBoth(...command.split(' '));
      expect([command, typeof json, table.length > 0 || json.items.length === 0]).toEqual([
        command,
        'object',
        true,
      ]);
    }
  });

  it('exists for every operation of the API that an administrator may need', async () => {
    const { paths } = await readDescription();
    const uncalled = Object.entries(paths)
      .filter(([path]) => path.startsWith('/api/v1/'))
      .flatMap(([path, operations]) => {
        const template = new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
        const methods = calls
          .filter(([{ url }]) => template.test(new URL(url).pathname))
          .map(([{ method }]) => method);
        return Object.entries(operations)
          .filter(([method]) => !methods.includes(method.toUpperCase()))
          .map(([, { operationId }]) => operationId);
      });
    expect(uncalled.sort()).toEqual(Object.keys(CALLED_BY_NONE).sort());
  });

  it('was run by a test above', () => {
    const all = leavesOf(treeOf({})).filter(
      (path) => !['events tail', 'keys rotate-encryption'].includes(path),
    );
    expect([...ran].sort()).toEqual(all.sort());
  });

  it('fails in one line if the key is refused, lacks a scope, or cannot be a header', async () => {
    expect(await run(['status'], 'pvo_unknown')).toMatchObject({
      exitCode: 1,
      err: `unauthenticated: the service at ${service.url} refuses the API key; set PV_ONBOARDING_API_KEY to a valid one.`,
    });
    const { body } = await client.call<{ key: string }>('POST', '/api-keys', {
      name: 'reader',
      scopes: ['users:read'],
    });
    expect((await run(['status'], body.key)).err).toBe(
      'forbidden: This needs a key with the scope onboarding:read',
    );
    const unusable = await run(['status'], 'sécret-of-a-key-\u0101');
    expect(unusable.err).toMatch(/^PV_ONBOARDING_API_KEY has characters/);
    expect(unusable.err).not.toContain('cret-of-a-key');
  });

  it('fails in one line if nothing or something else responds at the address', async () => {
    const stopped = await startWebhookReceiver();
    await stopped.close();
    expect(await run(['status'], ADMIN_KEY, stopped.url)).toMatchObject({
      exitCode: 1,
      err: `The service at ${stopped.url} does not respond (ECONNREFUSED).`,
    });
    receiver.answer = () => ({ status: 302, body: 'moved' });
    expect((await run(['status'], ADMIN_KEY, receiver.url)).err).toBe(
      `${receiver.url} responded with 302 and not as this service does: check PV_ONBOARDING_URL.`,
    );
  });

  it('reads the key from a file', async () => {
    const PV_ONBOARDING_API_KEY_FILE = join(folder, 'key');
    await writeFile(PV_ONBOARDING_API_KEY_FILE, `${ADMIN_KEY}\n`);
    const api = await findApi({ PV_ONBOARDING_URL: `${service.url}/`, PV_ONBOARDING_API_KEY_FILE });
    await expect(api.client.GET('/api/v1/users')).resolves.toMatchObject({ data: { next: null } });
  });

  it('with --json fails with the problem of the API as one line of JSON', async () => {
    const failing = async (args: string[], url = service.url) => {
      const { out, err, exitCode } = await run([...args, '--json'], ADMIN_KEY, url);
      expect([out, err.split('\n')]).toEqual(['', [expect.any(String)]]);
      return { exitCode, ...(JSON.parse(err) as object) };
    };
    expect(await failing(['users', 'show', UNKNOWN])).toEqual({
      exitCode: 1,
      ...(await client.call('GET', `/users/${UNKNOWN}`)).body,
      requestId: expect.any(String),
    });
    expect(await failing(['users', 'list', '--ean', 'x'])).toMatchObject({
      exitCode: 1,
      code: 'invalid_request',
      errors: [{ field: 'ean', message: expect.any(String) }],
    });
    for (const args of [
      ['users', 'list'],
      ['events', 'tail'],
    ])
      expect(await failing(args, 'http://127.0.0.1:9')).toEqual({
        exitCode: 1,
        code: 'unreachable',
        detail: expect.stringContaining('http://127.0.0.1:9 does not respond'),
      });
    for (const [args, detail] of [
      [['users', 'show', 'x'], /^command-argument .*It must be a UUID/],
      [['users', 'list', '--unknown'], /^unknown option/],
      [['users'], /^unknown option '--json'/],
    ] as const)
      expect(await failing([...args])).toEqual({
        exitCode: 2,
        code: 'usage',
        detail: expect.stringMatching(detail),
      });
  });

  it('refuses wrong usage before any call', async () => {
    for (const args of [
      ['sessions', 'show', 'not-an-id'],
      ['sessions', 'list', '--state', 'unknown'],
      ['webhooks', 'update', UNKNOWN, '--enable', '--disable'],
      ['users', 'remove'],
    ])
      expect([args, (await run(args, ADMIN_KEY, 'http://127.0.0.1:9')).exitCode]).toEqual([args, 2]);
  });
});

import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { eraseCommand } from '../../../src/cli/erase.command.js';
import { keysCommand } from '../../../src/cli/keys.command.js';
import { migrateCommand } from '../../../src/cli/migrate.command.js';
import { rederiveCommand } from '../../../src/cli/rederive.command.js';
import { restoreCommand } from '../../../src/cli/restore.command.js';
import { recordRestore } from '../../../src/cli/restore.store.js';
import { Database } from '../../../src/platform/database/database.js';
import { TestClient } from '../../setup/client.js';
import { useTestApp } from '../../setup/test-app.js';

const service = useTestApp();
const client = TestClient.of(service);

afterEach(() => void jest.restoreAllMocks());

/** What the last command printed to the standard error. */
let errors: string[] = [];

/** Runs a command without a terminal and returns what it printed to the standard output. */
async function run(make: typeof keysCommand, ...args: string[]): Promise<string> {
  const lines: string[] = [];
  errors = [];
  jest.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  jest.spyOn(console, 'error').mockImplementation((line: string) => void errors.push(line));
  await make(() => service.environment).parseAsync(args, { from: 'user' });
  return lines.join('\n');
}

describe('with --json', () => {
  it('keys are created, listed and revoked as through the API', async () => {
    const created = JSON.parse(
      await run(keysCommand, 'create', 'a script', '--scopes', 'users:read', '--json'),
    ) as { id: string };
    expect(created).toEqual({
      object: 'api_key',
      id: expect.any(String),
      name: 'a script',
      scopes: ['users:read'],
      key: expect.stringMatching(/^pvo_/),
      createdAt: expect.any(String),
    });
    const revoked = await run(keysCommand, 'revoke', created.id, '--yes', '--json');
    expect(JSON.parse(revoked)).toEqual({ id: created.id, revoked: true });
    const listed = JSON.parse(await run(keysCommand, 'list', '--json')) as object;
    expect(listed).toMatchObject({ items: [{ id: created.id, revokedAt: expect.any(String) }] });
    expect(listed).toEqual((await client.call('GET', '/api-keys')).body);
  });

  it('what maintenance has done is printed', async () => {
    expect(JSON.parse(await run(migrateCommand, '--json'))).toEqual({ applied: [] });
    expect(JSON.parse(await run(keysCommand, 'rotate-encryption', '--json'))).toMatchObject({
      'remote_tokens.token_ciphertext': { reEncrypted: 0, unreadable: 0, left: 0 },
    });
    await expect(run(restoreCommand, '--none-registered', '--json')).rejects.toMatchObject({
      problem: { code: 'no_restore' },
    });
    await service.app.get(Database).transaction(recordRestore);
    expect(JSON.parse(await run(restoreCommand, '--none-registered', '--json'))).toEqual({
      action: 'references.checked',
    });
  });

  it('the references of a file are compared before they count as checked', async () => {
    const file = join(tmpdir(), `${randomUUID()}.txt`);
    const check = async (text: string) => {
      // As PowerShell writes a file.
      await writeFile(file, `\ufeff${text}`, 'utf16le');
      return run(restoreCommand, '--references-checked', file, '--json');
    };
    await client.locate('in-list-1');
    await client.locate('in-list-2');
    await service.app.get(Database).transaction(recordRestore);
    await expect(check('in-list-1\ntw\u200bo\n')).rejects.toMatchObject({
      message: 'Line 2: a tenantReference contains a character that nobody sees (U+200B): type it again.',
    });
    await expect(check('\n')).rejects.toMatchObject({ exitCode: 2 });
    await expect(check('in-list-1\nunheard-of\nin-list-2\n')).rejects.toMatchObject({
      problem: { code: 'unknown_references', known: 2, unknown: ['unheard-of'] },
    });
    const request = { tenantReference: 'unheard-of', gridLocations: [{ ean: '541448860004178019' }] };
    expect((await client.call('POST', '/users', request)).body).toMatchObject({ status: 'uncertain' });
    const checked = await check('\uFEFFin-list-1\r\nunheard-of\r\nin-list-2\r\nin-list-1\r\n');
    expect(JSON.parse(checked)).toEqual({ action: 'references.checked', known: 3 });
    expect((await client.call('POST', '/users', { ...request, tenantReference: 'new' })).status).toBe(201);
    await rm(file);
  });

  it('the receipt of an erasure is printed', async () => {
    await client.locate('to-erase');
    const receipt = await run(eraseCommand, 'to-erase', '--yes', '--json');
    expect(JSON.parse(receipt)).toMatchObject({ erased: { registrations: 1 } });
  });

  it('a customer whose reference a new one may no longer have is found and erased', async () => {
    await client.locate('registered-before');
    for (const table of ['users', 'registrations'])
      await service.app
        .get(Database)
        .query(`UPDATE ${table} SET tenant_reference = 'N/A' WHERE tenant_reference = 'registered-before'`);
    for (const path of ['/users', '/registrations', '/customers'])
      expect((await client.call('GET', `${path}?tenantReference=N/A`)).body).toMatchObject({
        items: [{ tenantReference: 'N/A' }],
      });
    const receipt = await run(eraseCommand, 'N/A', '--yes', '--json');
    expect(JSON.parse(receipt)).toMatchObject({ erased: { registrations: 1 } });
  });
});

describe('for people', () => {
  const NOTHING = '00000000-0000-4000-8000-000000000000';
  const query = (text: string, values: unknown[] = []) => service.app.get(Database).query(text, values);

  it('keys have a line each', async () => {
    const key = await run(keysCommand, 'create', 'an app', '--scopes', 'users:read, users:write,users:read');
    const [, id = ''] = /^created (\S+); the key is shown only once:$/.exec(errors[0]!)!;
    expect(key).toMatch(/^pvo_\S+$/);
    const lineOfKey = async () =>
      (await run(keysCommand, 'list'))
        .split('\n')
        .find((line) => line.startsWith(id))
        ?.slice(id.length);
    expect(await lineOfKey()).toMatch(/^ +\d+s +- +- +- +an app +users:read users:write$/);
    await query(
      `UPDATE api_keys SET created_at = now() - interval '3 days', last_used_at = now() - interval '2 hours',
         refused_401 = 1, refused_403 = 20, refused_429 = 300, last_refused_at = now() - interval '5 minutes' WHERE id = $1`,
      [id],
    );
    expect(await run(keysCommand, 'revoke', id)).toBe('');
    expect(errors).toEqual([`revoked ${id}`]);
    expect(await lineOfKey()).toMatch(/^ +3d +2h +321, 5m +\d+s +an app +users:read users:write$/);
    await expect(run(keysCommand, 'revoke', NOTHING)).rejects.toMatchObject({
      code: 'not_found',
      exitCode: 1,
    });
    for (const [name, scopes] of [
      ['', 'users:read'],
      ['an app', 'users:red'],
    ] as const)
      await expect(run(keysCommand, 'create', name, '--scopes', scopes)).rejects.toMatchObject({
        exitCode: 2,
      });
  });

  it.each<[typeof keysCommand, string[], expected: object]>([
    [
      restoreCommand,
      [],
      { exitCode: 2, message: expect.stringMatching(/^Give one of --confirm, --moved, /) },
    ],
    [restoreCommand, ['--confirm', '--moved'], { exitCode: 2 }],
    [restoreCommand, ['--confirm'], { code: 'service_running', exitCode: 1 }],
    [restoreCommand, ['--moved'], { code: 'service_running', exitCode: 1 }],
    [eraseCommand, ['nobody-here'], { code: 'not_found' }],
  ])('%p with %j is refused', async (make, args, expected) => {
    await expect(run(make, ...args)).rejects.toMatchObject(expected);
  });

  it('a restore ends with what was found', async () => {
    expect(await run(migrateCommand)).toBe('nothing to apply');
    await client.locate('known-1');
    await client.locate('known-2');
    await service.app.get(Database).transaction(recordRestore);
    const file = join(tmpdir(), `${randomUUID()}.txt`);
    const check = async (...references: string[]) => {
      await writeFile(file, references.join('\n'));
      return run(restoreCommand, '--references-checked', file);
    };
    const unknown = Array.from({ length: 21 }, (_, at) => `u${at + 10}`);
    const named = unknown.slice(0, 20).join(', ');
    for (const [references, detail] of [
      [
        ['known-1', ...unknown],
        `21 of 22 references are not in this database, and nothing was changed: ${named}, and 1 more`,
      ],
      [
        unknown.slice(0, 20),
        `20 of 20 references are not in this database, and nothing was changed: ${named}. Register`,
      ],
    ] as const)
      await expect(check(...references)).rejects.toThrow(detail);
    const done = 'registrations are now sent as usual';
    expect(await check('known-1', 'known-2')).toBe(`2 references are known; ${done}`);
    await service.app.get(Database).transaction(recordRestore);
    expect(await run(restoreCommand, '--none-registered')).toBe(done);
    await rm(file);
    const details = (await query(
      `SELECT details FROM audit_log WHERE action = 'references.checked' ORDER BY id DESC LIMIT 2`,
    )) as {
      details: unknown;
    }[];
    expect(details.map((each) => each.details)).toEqual([{}, { known: 2 }]);
  });

  it('changes of states are shown, written only on demand, and counted', async () => {
    const ids = [(await client.startNew()).id, (await client.startNew()).id];
    for (const id of ids) {
      await service.sandbox!.control.fields(id, { set: { expired: true } });
      await client.untilState(id, 'expired');
    }
    const lineOfChange = (id: string) => `${id}  unrecognised -> expired  (expired_flag)`;
    // Simulates an earlier release without a rule for `expired`.
    await query(`UPDATE onboarding_sessions SET state = 'unrecognised', rule = 'undescribed_flags'`);
    expect(JSON.parse(await run(rederiveCommand, '--session', ids[0]!, '--json'))).toEqual({
      ...{ sessionId: ids[0], previousState: 'unrecognised', state: 'expired' },
      ...{ basis: 'observed', rule: 'expired_flag' },
    });
    expect(await run(rederiveCommand, '--session', ids[1]!)).toBe(lineOfChange(ids[1]!));
    expect(errors).toEqual(['1 state would change; add --write to change it']);
    expect((await run(rederiveCommand)).split('\n').sort()).toEqual(ids.map(lineOfChange).sort());
    expect(errors).toEqual(['2 states would change; add --write to change them']);
    expect((await run(rederiveCommand, '--write')).split('\n').sort()).toEqual(ids.map(lineOfChange).sort());
    expect(errors).toEqual(['2 written']);
    const details = { from: 'unrecognised', to: 'expired', rule: 'expired_flag' };
    expect(
      await query(
        `SELECT actor, target, details FROM audit_log WHERE action = 'session.rederived' ORDER BY target`,
      ),
    ).toEqual(ids.toSorted().map((target) => ({ actor: 'cli', target, details })));
    for (const id of ids) {
      expect((await client.session(id)).state).toBe('expired');
      expect(await client.eventsOf(id)).toEqual(['session.started', 'session.expired', 'session.expired']);
    }
    expect([await run(rederiveCommand, '--write'), errors]).toEqual([
      '',
      ['the current rules change no state'],
    ]);
    const unknown = run(rederiveCommand, '--session', randomUUID());
    await expect(unknown).rejects.toMatchObject({ code: 'not_found', exitCode: 1 });
    // More than one page of them, one of which an erasure changes meanwhile.
    await query(`
      WITH made AS (
        INSERT INTO onboarding_sessions SELECT (jsonb_populate_record(s, '{"state": "unrecognised"}' || jsonb_build_object(
          'id', gen_random_uuid(), 'superseded_at', now(), 'closed_at', CASE nth WHEN 1 THEN now() END, 'close_reason', CASE nth WHEN 1 THEN 'erased' END))).*
          FROM onboarding_sessions s, generate_series(1, 501) nth WHERE id = '${ids[0]!}' RETURNING id
      )
      INSERT INTO session_observations (session_id, source, body, http_status, hash, observed_at)
      SELECT made.id, source, body, http_status, hash, observed_at FROM made, session_observations WHERE session_id = '${ids[0]!}'`);
    await run(rederiveCommand, '--write');
    expect(errors).toEqual(['500 of 501 written; the other sessions have changed meanwhile']);
  });
});

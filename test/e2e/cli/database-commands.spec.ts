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
import { recordRestore } from '../../../src/events/sequence.sql.js';
import { Database } from '../../../src/platform/database/database.js';
import { TestClient } from '../../setup/client.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

const service = useTestApp();
const client = TestClient.of(service);

afterEach(() => void jest.restoreAllMocks());

/** Runs a command without a terminal and returns what it printed to the standard output. */
async function run(make: typeof keysCommand, ...args: string[]): Promise<string> {
  const lines: string[] = [];
  jest.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  jest.spyOn(console, 'error').mockImplementation(() => {});
  await make(() => service.environment).parseAsync(args, { from: 'user' });
  return lines.join('\n');
}

describe('with --json', () => {
  it('keys are created, listed and revoked as through the API', async () => {
    const created = JSON.parse(
      await run(keysCommand, 'create', 'a script', '--scopes', 'users:read', '--json'),
    ) as { id: string };
    expect(created).toEqual({
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
      await writeFile(file, text);
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

  it('each change of a state is printed as one line', async () => {
    const { id } = await client.startNew();
    await service.sandbox!.control.fields(id, { set: { expired: true } });
    await waitFor('expired', async () => (await client.session(id)).state === 'expired');
    // Simulates an earlier release without a rule for `expired`.
    const text =
      "UPDATE onboarding_sessions SET state = 'unrecognised', rule = 'undescribed_flags' WHERE id = $1";
    await service.app.get(Database).query(text, [id]);
    const change = await run(rederiveCommand, '--session', id, '--json');
    expect(JSON.parse(change)).toEqual({
      sessionId: id,
      previousState: 'unrecognised',
      state: 'expired',
      basis: 'observed',
      rule: 'expired_flag',
    });
  });
});

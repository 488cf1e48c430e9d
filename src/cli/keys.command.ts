import { Command, InvalidArgumentError } from 'commander';
import { ApiKeysStore } from '../access/api-keys.store.js';
import { recordAudit } from '../access/audit-log.store.js';
import { SCOPES, type Scope } from '../access/scopes.js';
import { ENCRYPTED_COLUMNS } from '../encrypted-columns.js';
import { Cipher } from '../platform/crypto/cipher.js';
import { reEncrypt, type ReEncryption } from '../platform/crypto/re-encryption.store.js';
import type { Database } from '../platform/database/database.js';
import type { ListPosition } from '../platform/database/list-position.js';
import { ACTOR, readId, withDatabase, type ReadEnvironment } from './command-environment.js';
import { confirm, YES, type Confirmation } from './confirm.js';
import { fail, print, printError } from './print.js';

const NAME = /^\S(.{0,98}\S)?$/;
const PAGE = 200;

export function keysCommand(readEnvironment: ReadEnvironment): Command {
  const withKeys = (work: (keys: ApiKeysStore, database: Database) => Promise<void>) =>
    withDatabase(readEnvironment, (database) => work(new ApiKeysStore(database), database));

  const keys = new Command('keys').description(
    'create, list and revoke API keys; change the key that stored secrets are encrypted with',
  );
  keys
    .command('create')
    .description('create a key and print it; it is never shown again')
    .argument('<name>', 'the app that uses the key', readName)
    .requiredOption('--scopes <list>', `separated by commas, of: ${SCOPES.join(' ')}`, readScopes)
    .addHelpText(
      'after',
      '\nA scope that writes does not include the one that reads; `admin` includes all others.',
    )
    .action((name: string, { scopes }: { scopes: Scope[] }) =>
      withKeys(async (store, database) => {
        const { id, key } = await database.transaction((tx) => store.create(tx, name, scopes, ACTOR));
        printError(`created ${id}; the key is shown only once:`);
        print(key);
      }),
    );
  keys
    .command('list')
    .description('list all keys, newest first')
    .action(() => withKeys(printAll));
  keys
    .command('revoke')
    .description('revoke a key; it is refused everywhere within 5 seconds')
    .argument('<id>', 'from `keys list`', readId)
    .option(...YES)
    .action((id: string, confirmation: Confirmation) =>
      withKeys(async (store) => {
        const key = await store.find(id);
        if (key === null) return fail(`There is no API key ${id}`);
        const loss = `This revokes the API key ${id} of ${key.name}: every call with it is refused.`;
        if (await confirm(loss, confirmation)) await store.revoke(id, ACTOR);
      }),
    );
  return keys.addCommand(rotateEncryptionCommand(readEnvironment));
}

export function rotateEncryptionCommand(readEnvironment: ReadEnvironment): Command {
  return new Command('rotate-encryption')
    .description(
      'encrypt all stored secrets with the first of ENCRYPTION_KEYS; may be repeated, also while the service runs',
    )
    .action(() =>
      withDatabase(readEnvironment, async (database, environment) => {
        const cipher = new Cipher(environment);
        const details: Record<string, ReEncryption> = {};
        for (const column of ENCRYPTED_COLUMNS)
          details[column.name] = await reEncrypt(database, cipher, column);
        await recordAudit(database, { actor: ACTOR, action: 'encryption.rotated', details });
        for (const [name, { reEncrypted, unreadable, left }] of Object.entries(details))
          print(`${name}: ${reEncrypted} re-encrypted, ${unreadable + left} under another key`);
        const results = Object.values(details);
        if (results.some(({ left }) => left > 0))
          fail(
            'A replica still encrypts with another key: restart all replicas with the new key first, then repeat this command.',
          );
        if (results.some(({ unreadable }) => unreadable > 0))
          fail(
            'Some values cannot be decrypted with any of ENCRYPTION_KEYS: add the key that encrypted them, then repeat this command.',
          );
      }),
    );
}

async function printAll(store: ApiKeysStore): Promise<void> {
  let after: ListPosition | undefined;
  do {
    const keys = await store.list(after, PAGE);
    for (const { id, name, scopes, createdAt, lastUsedAt, revokedAt } of keys) {
      const use = revokedAt === null ? `last used ${day(lastUsedAt)}` : `revoked ${day(revokedAt)}`;
      print(`${id}  ${name}  [${scopes.join(' ')}]  created ${day(createdAt)}, ${use}`);
    }
    const last = keys.at(-1);
    after = last && { at: last.createdAt, id: last.id };
  } while (after !== undefined);
}

const day = (instant: Date | null): string => instant?.toISOString() ?? 'never';

function readName(text: string): string {
  if (!NAME.test(text))
    throw new InvalidArgumentError('It needs 1 to 100 characters and no space at either end.');
  return text;
}

function readScopes(text: string): Scope[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  const unknown = names.filter((name) => !SCOPES.some((scope) => scope === name));
  if (unknown.length > 0)
    throw new InvalidArgumentError(`Not a scope: ${unknown.join(', ')}. There are: ${SCOPES.join(' ')}.`);
  return names as Scope[];
}

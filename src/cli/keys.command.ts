import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { Command } from 'commander';
import { NewApiKey } from '../api-keys/api-keys.dto.js';
import { recordAudit } from '../access/audit-log.store.js';
import { SCOPES, type Scope } from '../access/scopes.js';
import { ENCRYPTED_COLUMNS } from '../privacy/encrypted-columns.js';
import { visibleText } from '../platform/redaction/visible-text.js';
import { Cipher } from '../platform/crypto/cipher.js';
import { reEncrypt, type ReEncryption } from '../platform/crypto/re-encryption.store.js';
import { age, printTable, type Columns } from './api/table.js';
import type { FindApi } from './api/service-api.js';
import { CommandError } from './command-error.js';
import { ACTOR, withDatabase, type ReadEnvironment } from './command-environment.js';
import { confirm, YES, type Confirmation } from './confirm.js';
import { keysInDatabase, keysOfService, type Key, type Keys } from './keys.js';
import { JSON_OPTION, print, printError, printJson } from './print.js';
import { readId } from './read-input.js';

const COLUMNS: Columns<Key> = {
  ID: ({ id }) => id,
  AGE: ({ createdAt }) => age(createdAt),
  USED: ({ lastUsedAt }) => age(lastUsedAt),
  REFUSED: ({ refused401, refused403, refused429, lastRefusedAt }) =>
    lastRefusedAt && `${refused401 + refused403 + refused429}, ${age(lastRefusedAt)}`,
  REVOKED: ({ revokedAt }) => age(revokedAt),
  NAME: ({ name }) => name,
  SCOPES: ({ scopes }) => scopes.join(' '),
};

/** With `findApi`, the commands about API keys call the service instead of reading and writing its database. */
export function keysCommand(readEnvironment: ReadEnvironment, findApi?: FindApi): Command {
  const withKeys = async (work: (keys: Keys) => Promise<void>) =>
    findApi === undefined
      ? withDatabase(readEnvironment, (...given) => work(keysInDatabase(...given)))
      : work(keysOfService(await findApi()));

  const keys = new Command('keys').description(
    'create, list and revoke API keys; change the key that stored secrets are encrypted with',
  );
  keys
    .command('create')
    .description('create a key and print it; it is never shown again')
    .argument('<name>', 'the app that uses the key')
    .requiredOption('--scopes <list>', `separated by commas, of: ${SCOPES.join(' ')}`, readScopes)
    .addHelpText(
      'after',
      '\nA scope that writes does not include the one that reads; `admin` includes all others.\n`links:read` shows the startUrl of sessions; no other scope does, not even `onboarding:write`.',
    )
    .option(...JSON_OPTION)
    .action((name: string, { scopes, json }: { scopes: Scope[]; json?: boolean }) => {
      const errors = validateSync(plainToInstance(NewApiKey, { name, scopes }));
      const faults = errors.flatMap(({ constraints = {} }) => Object.values(constraints));
      if (faults.length > 0) throw new CommandError('usage', faults.join('; '), 2);
      return withKeys(async (keys) => {
        const created = await keys.create(name, scopes);
        if (json) return printJson(created);
        printError(`created ${created.id}; the key is shown only once:`);
        print(created.key);
      });
    });
  keys
    .command('list')
    .description('list all keys, newest first')
    .option(...JSON_OPTION)
    .action(({ json }: { json?: boolean }) =>
      withKeys(async (keys) => {
        const items = await keys.list();
        if (json) printJson({ items, next: null });
        else printTable(COLUMNS, items);
      }),
    );
  keys
    .command('revoke')
    .description('revoke a key; it is refused everywhere within 5 seconds')
    .argument('<id>', 'from `keys list`', readId)
    .option(...YES)
    .option(...JSON_OPTION)
    .action((id: string, options: Confirmation & { json?: boolean }) =>
      withKeys(async (keys) => {
        const key = (await keys.list()).find((each) => each.id === id);
        if (key === undefined) throw new CommandError('not_found', `There is no API key ${id}`);
        const effect = `this revokes the API key ${id} of ${visibleText(key.name)}: every call with it is refused. This cannot be undone.`;
        await confirm(keys.place, effect, options);
        await keys.revoke(id);
        if (options.json) printJson({ id, revoked: true });
        else printError(`revoked ${id}`);
      }),
    );
  return keys.addCommand(rotateEncryptionCommand(readEnvironment));
}

export function rotateEncryptionCommand(readEnvironment: ReadEnvironment): Command {
  return new Command('rotate-encryption')
    .description(
      'encrypt all stored secrets with the first of ENCRYPTION_KEYS; may be repeated, also while the service runs',
    )
    .option(...JSON_OPTION)
    .action(({ json }: { json?: boolean }) =>
      withDatabase(readEnvironment, async (database, environment) => {
        const cipher = new Cipher(environment);
        const details: Record<string, ReEncryption> = {};
        for (const column of ENCRYPTED_COLUMNS)
          details[column.name] = await reEncrypt(database, cipher, column);
        await recordAudit(database, { actor: ACTOR, action: 'encryption.rotated', details });
        if (json) printJson(details);
        else
          for (const [name, { reEncrypted, unreadable, left }] of Object.entries(details))
            print(`${name}: ${reEncrypted} re-encrypted, ${unreadable + left} under another key`);
        const results = Object.values(details);
        const faults = [
          results.some(({ left }) => left > 0) &&
            'A replica still encrypts with another key: restart all replicas with the new key first, then repeat this command.',
          results.some(({ unreadable }) => unreadable > 0) &&
            'Some values cannot be decrypted with any of ENCRYPTION_KEYS: add the key that encrypted them, then repeat this command.',
        ].filter((fault) => fault !== false);
        if (faults.length > 0) throw new CommandError('not_re_encrypted', faults.join('\n'));
      }),
    );
}

const readScopes = (text: string): string[] => [...new Set(text.split(',').map((name) => name.trim()))];

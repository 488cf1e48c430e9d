import { Command, InvalidArgumentError } from 'commander';
import { ApiKeysStore } from '../access/api-keys.store.js';
import { AuditLog } from '../access/audit-log.store.js';
import { SCOPES, type Scope } from '../access/scopes.js';
import { Problem } from '../platform/problem/problem.js';
import { ACTOR, withDatabase, type ReadEnvironment } from './command-database.js';
import { print, printError } from './print.js';
import { rotateEncryptionCommand } from './rotate-encryption.command.js';

const NAME = /^\S(.{0,98}\S)?$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const PAGE = 200;

/** `keys create|list|revoke|rotate-encryption`, on the database that `readEnvironment` names. */
export function keysCommand(readEnvironment: ReadEnvironment): Command {
  const withKeys = (work: (keys: ApiKeysStore) => Promise<void>): Promise<void> =>
    withDatabase(readEnvironment, (database) => work(new ApiKeysStore(database, new AuditLog())));

  const keys = new Command('keys').description(
    'create, list and revoke API keys; change the key that stored secrets are encrypted with',
  );
  keys
    .command('create')
    .description('create a key and print it: this is the only time it is shown')
    .argument('<name>', 'which app uses it', readName)
    .requiredOption('--scopes <list>', `separated by commas, of: ${SCOPES.join(' ')}`, readScopes)
    .action((name: string, { scopes }: { scopes: Scope[] }) =>
      withKeys(async (store) => {
        const { id, key } = await store.create(name, scopes, ACTOR);
        printError(`created ${id}; the key is shown this once:`);
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
    .action((id: string) =>
      withKeys(async (store) => {
        try {
          await store.revoke(id, ACTOR);
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          printError(error.detail);
          process.exitCode = 1;
        }
      }),
    );
  return keys.addCommand(rotateEncryptionCommand(readEnvironment));
}

async function printAll(store: ApiKeysStore): Promise<void> {
  let cursor: string | undefined;
  do {
    const page = await store.list({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
    for (const { id, name, scopes, createdAt, lastUsedAt, revokedAt } of page.items) {
      const use = revokedAt === null ? `last used ${day(lastUsedAt)}` : `revoked ${day(revokedAt)}`;
      print(`${id}  ${name}  [${scopes.join(' ')}]  created ${day(createdAt)}, ${use}`);
    }
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
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

function readId(text: string): string {
  if (!UUID.test(text)) throw new InvalidArgumentError('It is a UUID.');
  return text;
}

import { Command } from 'commander';
import { AuditLog } from '../access/audit-log.store.js';
import { TOKENS } from '../auth/token-at-rest.sql.js';
import {
  PREVIOUS_WEBHOOK_SECRETS,
  WEBHOOK_HEADERS,
  WEBHOOK_SECRETS,
} from '../events/webhooks/secrets/secrets.sql.js';
import { START_URLS } from '../onboarding/start/start-urls.sql.js';
import { Cipher } from '../platform/crypto/cipher.js';
import {
  reEncrypt,
  type EncryptedColumn,
  type ReEncryption,
} from '../platform/crypto/re-encryption.store.js';
import type { Database } from '../platform/database/database.js';
import { ACTOR, withDatabase, type ReadEnvironment } from './command-database.js';
import { print, printError } from './print.js';

/** All encrypted columns. */
const ENCRYPTED: readonly EncryptedColumn[] = [
  START_URLS,
  TOKENS,
  WEBHOOK_SECRETS,
  PREVIOUS_WEBHOOK_SECRETS,
  WEBHOOK_HEADERS,
];

/** `keys rotate-encryption`, on the database that `readEnvironment` names. */
export function rotateEncryptionCommand(readEnvironment: ReadEnvironment): Command {
  return new Command('rotate-encryption')
    .description(
      'bring everything that is stored encrypted under the first of ENCRYPTION_KEYS; safe to repeat, while the service runs',
    )
    .action(() =>
      withDatabase(readEnvironment, async (database, environment) => {
        const results = await rotate(database, new Cipher(environment));
        for (const [name, result] of results) print(`${name}: ${summaryOf(result)}`);
        const advice = adviceFor(results.map(([, result]) => result));
        for (const line of advice) printError(line);
        if (advice.length > 0) process.exitCode = 1;
      }),
    );
}

type Named = readonly [name: string, ReEncryption];

async function rotate(database: Database, cipher: Cipher): Promise<readonly Named[]> {
  const results: Named[] = [];
  for (const column of ENCRYPTED) results.push([column.name, await reEncrypt(database, cipher, column)]);
  await new AuditLog().record(database, {
    actor: ACTOR,
    action: 'encryption.rotated',
    details: Object.fromEntries(results),
  });
  return results;
}

const summaryOf = ({ reEncrypted, unreadable, left }: ReEncryption): string =>
  `${reEncrypted} re-encrypted, ${unreadable + left} under another key`;

function adviceFor(results: readonly ReEncryption[]): string[] {
  return [
    ...(results.some(({ left }) => left > 0)
      ? [
          'A replica still encrypts with another key: restart all of them with the new key first, then repeat.',
        ]
      : []),
    ...(results.some(({ unreadable }) => unreadable > 0)
      ? [
          'Some cannot be opened with any of ENCRYPTION_KEYS: add the key they were written with, then repeat.',
        ]
      : []),
  ];
}

import { Logger } from '@nestjs/common';
import { ConfigurationError } from '../env/configuration-error.js';
import type { Sql } from '../database/database.js';
import type { Cipher } from './cipher.js';
import type { EncryptedColumn } from './re-encryption.store.js';

const SAMPLED = 1_000;

/**
 * Checks a sample of the stored values. Throws ConfigurationError if ENCRYPTION_KEYS has none of the keys that encrypted them, such as
 * after a restore with other keys. Logs a warning if only some keys are missing. The messages name keys by their ids, which are not secret.
 */
export async function checkKeys(
  sql: Sql,
  cipher: Cipher,
  columns: readonly EncryptedColumn[],
): Promise<void> {
  const samples = columns.map(({ sample }) => sql.query<{ ciphertext: Buffer }>(sample, [SAMPLED]));
  const stored = (await Promise.all(samples)).flat();
  const missing = stored.flatMap(({ ciphertext }) => cipher.missingKeyOf(ciphertext) ?? []);
  if (missing.length === 0) return;
  const isAll = missing.length === stored.length;
  const ids = [...new Set(missing)].join(', ');
  const problem = `ENCRYPTION_KEYS lacks the key ${ids}, which encrypted ${isAll ? 'the' : 'some'} stored values: add it`;
  if (isAll) throw new ConfigurationError([problem], []);
  new Logger('Start').warn(problem);
}

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../../../prisma/migrations', import.meta.url));
/** The first line of a script that cannot run in a transaction says why. Such a script can be run again after a part of it. */
const NOT_TRANSACTIONAL = /^-- not transactional: \S/;

export interface Migration {
  readonly name: string;
  readonly script: string;
  readonly checksum: string;
  readonly isTransactional: boolean;
}

/** Returns the names of all migrations, in the order in which they are applied. */
export async function readMigrations(): Promise<string[]> {
  const entries = await readdir(MIGRATIONS_FOLDER, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => name).sort();
}

export async function readMigration(name: string): Promise<Migration> {
  const script = await readFile(join(MIGRATIONS_FOLDER, name, 'migration.sql'), 'utf8');
  const checksum = createHash('sha256').update(script).digest('hex');
  return { name, script, checksum, isTransactional: !NOT_TRANSACTIONAL.test(script) };
}

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PRISMA = fileURLToPath(new URL('../../../../prisma', import.meta.url));
const MIGRATIONS = join(PRISMA, 'migrations');
const VIEWS = join(PRISMA, 'views');

/** A refused or failed migration. The message is for operators. */
export class MigrationError extends Error {}

export interface Migration {
  readonly name: string;
  readonly script: string;
}

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Returns the names of all migrations, in the order in which they are applied. */
export async function readMigrationNames(): Promise<string[]> {
  const entries = await readdir(MIGRATIONS, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => name).sort();
}

export async function readMigrations(): Promise<Migration[]> {
  return readScripts(await readMigrationNames(), (name) => join(MIGRATIONS, name, 'migration.sql'));
}

/** Returns the views of the schema `admin`, in the order of their names. A view may read those before it. */
export async function readViews(): Promise<Migration[]> {
  const files = (await readdir(VIEWS)).filter((file) => file.endsWith('.sql')).sort();
  return readScripts(
    files.map((file) => basename(file, '.sql')),
    (name) => join(VIEWS, `${name}.sql`),
  );
}

const readScripts = (names: readonly string[], fileOf: (name: string) => string): Promise<Migration[]> =>
  Promise.all(names.map(async (name) => ({ name, script: await readFile(fileOf(name), 'utf8') })));

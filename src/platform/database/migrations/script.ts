import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PRISMA = fileURLToPath(new URL('../../../../prisma', import.meta.url));
const MIGRATIONS = join(PRISMA, 'migrations');
const VIEWS = join(PRISMA, 'views');
/** The first line of a script that cannot run in a transaction says why. Such a script can be run again after a part of it. */
const NOT_TRANSACTIONAL = /^-- not transactional: \S/;

export interface Migration {
  readonly name: string;
  readonly script: string;
}

export const isTransactional = ({ script }: Migration): boolean => !NOT_TRANSACTIONAL.test(script);

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Returns the names of all migrations, in the order in which they are applied. */
export async function readMigrationNames(): Promise<string[]> {
  const entries = await readdir(MIGRATIONS, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => name).sort();
}

export async function readMigrations(): Promise<Migration[]> {
  const names = await readMigrationNames();
  return Promise.all(
    names.map(async (name) => ({
      name,
      script: await readFile(join(MIGRATIONS, name, 'migration.sql'), 'utf8'),
    })),
  );
}

/** Returns the views of the schema `admin`, in the order of their names. A view may read those before it. */
export async function readViews(): Promise<Migration[]> {
  const files = (await readdir(VIEWS)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file) => ({
      name: file.slice(0, -'.sql'.length),
      script: await readFile(join(VIEWS, file), 'utf8'),
    })),
  );
}

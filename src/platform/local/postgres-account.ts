import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { chown, cp, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Binaries } from './postgres-binaries.js';

const run = promisify(execFile);

/** The account that PostgreSQL runs as. PostgreSQL refuses to run as root, so root uses an account that exists on every system. */
export interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

export async function accountForPostgres(): Promise<Account> {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    try {
      const ids = await Promise.all(
        ['-u', '-g'].map(async (flag) => Number((await run('id', [flag, name])).stdout)),
      );
      return { uid: ids[0], gid: ids[1] };
    } catch {
      // The account does not exist: try the next name.
    }
  }
  throw new Error(
    'PostgreSQL does not run as root, and there is neither an account `postgres` nor `nobody`; set DATABASE_URL',
  );
}

export interface Places {
  /** Contains `bin`, `lib` and `share`. */
  readonly binaries: string;
  /** Owned by the account; contains PostgreSQL's data. */
  readonly base: string;
}

/**
 * Returns folders in which PostgreSQL can run. If root runs a project below /root or another closed folder, the account cannot reach the
 * binaries or the data. Each unreachable folder is replaced by one outside, named after the folder it replaces.
 */
export async function placesForPostgres(
  account: Account,
  binaries: Binaries,
  wanted: string,
): Promise<Places> {
  await mkdir(wanted, { recursive: true });
  if (account.uid === undefined) return { binaries: binaries.folder, base: wanted };
  const base = (await reaches(account, wanted)) ? wanted : await outside(account, wanted);
  if (base !== wanted) await writeFile(join(wanted, 'elsewhere.txt'), `${base}\n`);
  return {
    binaries: (await reaches(account, binaries.folder))
      ? binaries.folder
      : await copyOnce(binaries.folder, join(await outside(account, binaries.folder), binaries.version)),
    base: await own(join(base, 'server'), account),
  };
}

async function outside(account: Account, place: string): Promise<string> {
  const name = `pv-onboarding-${createHash('sha256').update(place).digest('hex').slice(0, 12)}`;
  // /var/tmp first: it survives a restart of the machine.
  for (const parent of new Set(['/var/tmp', tmpdir(), '/tmp'])) {
    if ((await reaches(account, parent)) && (await mkdirAsRoot(join(parent, name))))
      return join(parent, name);
  }
  throw new Error(
    `the account PostgreSQL runs as reaches neither ${place} nor a temporary folder; set DATABASE_URL`,
  );
}

/** Returns whether the account may enter the folder. It tries to, because mode bits do not reflect access lists and mount options. */
async function reaches(account: Account, folder: string): Promise<boolean> {
  return run('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...account, cwd: '/' }).then(
    () => true,
    () => false,
  );
}

/** Returns false if the folder is not root's: in a folder writable for all, another user may have created it first. */
async function mkdirAsRoot(folder: string): Promise<boolean> {
  await mkdir(folder, { recursive: true, mode: 0o755 });
  return (await stat(folder)).uid === 0;
}

async function own(folder: string, account: Account): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chown(folder, account.uid ?? -1, account.gid ?? -1);
  return folder;
}

/** Copies to a temporary name and renames, so that an interrupted copy is never taken for a complete one. */
async function copyOnce(from: string, to: string): Promise<string> {
  const wholeCopy = await stat(to).catch(() => undefined);
  if (wholeCopy !== undefined) return to;
  const partial = `${to}.${randomUUID()}`;
  await cp(from, partial, { recursive: true, verbatimSymlinks: true });
  await rename(partial, to).catch(() => rm(partial, { recursive: true }));
  return to;
}

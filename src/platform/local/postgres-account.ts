import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { chown, cp, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Binaries } from './postgres-binaries.js';

const run = promisify(execFile);

/** Whom PostgreSQL runs as. It refuses to run as root, so root lends it an account that exists on every system. */
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
      // No such account: the next name.
    }
  }
  throw new Error(
    'PostgreSQL does not run as root, and there is neither an account `postgres` nor `nobody`; set DATABASE_URL',
  );
}

export interface Places {
  /** `bin`, `lib` and `share`. */
  readonly binaries: string;
  /** Owned by the account; PostgreSQL's data go into it. */
  readonly base: string;
}

/**
 * Where PostgreSQL can run. As root with a project below /root or another closed folder the account reaches the binaries or
 * the data not: what it does not reach goes to a folder outside, named after the place it stands for.
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
  // /var/tmp first: it outlives a restart of the machine.
  for (const parent of new Set(['/var/tmp', tmpdir(), '/tmp'])) {
    if ((await reaches(account, parent)) && (await mkdirAsRoot(join(parent, name))))
      return join(parent, name);
  }
  throw new Error(
    `the account PostgreSQL runs as reaches neither ${place} nor a temporary folder; set DATABASE_URL`,
  );
}

/** Whether the account may enter the folder, asked by trying: mode bits do not tell of access lists and mount options. */
async function reaches(account: Account, folder: string): Promise<boolean> {
  return run('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...account, cwd: '/' }).then(
    () => true,
    () => false,
  );
}

/** In a folder that everybody can write to, somebody else may have made ours first: then it is not ours. */
async function mkdirAsRoot(folder: string): Promise<boolean> {
  await mkdir(folder, { recursive: true, mode: 0o755 });
  return (await stat(folder)).uid === 0;
}

async function own(folder: string, account: Account): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chown(folder, account.uid ?? -1, account.gid ?? -1);
  return folder;
}

/** Copied beside and renamed, so that a copy that was broken off is never taken for a whole one. */
async function copyOnce(from: string, to: string): Promise<string> {
  const wholeCopy = await stat(to).catch(() => undefined);
  if (wholeCopy !== undefined) return to;
  const partial = `${to}.${randomUUID()}`;
  await cp(from, partial, { recursive: true, verbatimSymlinks: true });
  await rename(partial, to).catch(() => rm(partial, { recursive: true }));
  return to;
}

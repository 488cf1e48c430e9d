import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processStart } from './process-identity.js';

interface Process {
  readonly pid: number;
  readonly start: string | undefined;
}

interface Holder extends Process {
  /** The processes that the holder started; they end shortly after the holder does. */
  readonly children: readonly Process[];
}

/** The children of a killed holder stop PostgreSQL before they end. */
const CHILDREN_GO_MS = 8_000;

export interface DataLock {
  recordChildren(pids: readonly number[]): Promise<void>;
  release(): Promise<void>;
}

/**
 * Locks the folder, which belongs to one process at a time. Throws, naming the holder, while that process lives; takes over from a dead
 * one.
 */
export async function lockFolder(folder: string): Promise<DataLock> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'lock.json');
  const own: Holder = { pid: process.pid, start: await processStart(process.pid), children: [] };
  while (!(await createWhole(file, JSON.stringify(own)))) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    const holder = JSON.parse(text) as Holder;
    if (await isAlive(holder)) {
      throw new Error(
        `${folder} is in use by another service of this folder (process ${holder.pid}); stop that one, or set DATABASE_URL to ` +
          'run several processes on one database',
      );
    }
    await waitForEnd(holder.children);
    await removeStale(file, text);
  }
  return {
    recordChildren: async (pids) => {
      const children = await Promise.all(pids.map(async (pid) => ({ pid, start: await processStart(pid) })));
      await replace(file, JSON.stringify({ ...own, children } satisfies Holder));
    },
    release: () => rm(file, { force: true }),
  };
}

async function isAlive({ pid, start }: Process): Promise<boolean> {
  const now = await processStart(pid);
  return now !== undefined && now === start;
}

async function waitForEnd(processes: readonly Process[]): Promise<void> {
  const deadline = performance.now() + CHILDREN_GO_MS;
  for (const one of processes) {
    while ((await isAlive(one)) && performance.now() < deadline) await sleep(50);
  }
}

/** Creates the file with its content or not at all, by a link: no process ever reads half a lock. */
async function createWhole(file: string, text: string): Promise<boolean> {
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, text, { mode: 0o600 });
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft);
  }
}

async function replace(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
}

/** Removes a stale lock. Two processes may find the same one: if this process moved a newer lock away, it puts that back. */
async function removeStale(file: string, staleText: string): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch {
    return;
  }
  if ((await readFile(aside, 'utf8')) !== staleText) await link(aside, file).catch(() => {});
  await rm(aside);
}

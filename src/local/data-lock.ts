import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CHILD_STOP_MS } from '../platform/shutdown/limits.js';
import { identify, isAlive, type ProcessIdentity } from './process-identity.js';

interface Holder extends ProcessIdentity {
  /** The processes that the holder started; they end shortly after the holder does. */
  readonly children: readonly ProcessIdentity[];
}

/** Locks the folder for this process. Throws if another live process has the lock; takes over the lock of a dead process. */
export async function lockFolder(folder: string) {
  const file = join(folder, 'lock.json');
  const own = await identify(process.pid);
  while (!(await place({ ...own, children: [] }, file, link))) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    const holder = JSON.parse(text) as Holder;
    if (await isAlive(holder)) {
      throw new Error(
        `${folder} is in use by another service (process ${holder.pid}); stop it, or set DATABASE_URL to ` +
          'run several processes on one database',
      );
    }
    const deadline = performance.now() + CHILD_STOP_MS;
    for (const child of holder.children)
      while ((await isAlive(child)) && performance.now() < deadline) await sleep(50);
    await removeStale(file, text);
  }
  return {
    recordChildren: async (pids: readonly number[]): Promise<void> => {
      await place({ ...own, children: await Promise.all(pids.map(identify)) }, file, rename);
    },
    release: (): Promise<void> => rm(file, { force: true }),
  };
}

/** Writes a temporary file and moves it to `file`, so that no process reads a partial one. With `link`, returns false if `file` exists. */
async function place(holder: Holder, file: string, move: typeof link | typeof rename): Promise<boolean> {
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, JSON.stringify(holder), { mode: 0o600 });
  try {
    await move(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes a stale lock. If another process has replaced it meanwhile, puts the newer lock back. */
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

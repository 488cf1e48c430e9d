import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Runs `work` under a lock file in the folder. Waits while a live process has the lock, and removes the lock of a dead process. */
export async function exclusively(folder, name, work) {
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${name}.lock`);
  let isReported = false;
  while (!(await take(file))) {
    const pid = Number(await readFile(file, 'utf8').catch(() => ''));
    if (pid > 0 && !isAlive(pid)) await removeStale(file, pid);
    else if (!isReported) {
      isReported = true;
      console.error(`waiting for process ${pid}, which installs and builds here`);
    }
    await sleep(200);
  }
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

/** Creates the lock file; returns false if it exists. Links it to a complete draft, so that no process reads an empty file. */
async function take(file) {
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, String(process.pid));
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes the lock of a dead process. If another process has taken the lock meanwhile, restores that lock. */
async function removeStale(file, stalePid) {
  const aside = `${file}.${process.pid}.stale`;
  try {
    await rename(file, aside);
  } catch {
    return;
  }
  if (Number(await readFile(aside, 'utf8')) !== stalePid) await link(aside, file).catch(() => {});
  await rm(aside);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process is alive and belongs to another user.
    return error.code === 'EPERM';
  }
}

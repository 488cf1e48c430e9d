import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Runs `work` while no other process does the same in this folder; a lock whose process is gone counts for nothing. */
export async function exclusively(folder, name, work) {
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${name}.lock`);
  let said = false;
  while (!(await take(file))) {
    const pid = Number(await readFile(file, 'utf8').catch(() => ''));
    if (pid > 0 && !isAlive(pid)) await removeStale(file, pid);
    else if (!said) {
      said = true;
      console.log(`waiting for process ${pid}, which installs and builds here`);
    }
    await sleep(200);
  }
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

/** A link appears with its content or not at all, so nobody reads a lock without its process. */
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

/** Two may find the same stale lock: whoever moved away a newer one puts it back. */
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
    // EPERM: it lives, and is another user's.
    return error.code === 'EPERM';
  }
}

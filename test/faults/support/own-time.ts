import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestProcess } from '../../setup/test-process.js';

const LOOK_EVERY_MS = 10;

export interface Ending {
  /** Null when it goes on. */
  readonly ended: Awaited<TestProcess['exited']> | null;
  readonly tookMs: number;
}

/**
 * Waits for a process to end, for `withinMs` of its own time: that in which it waited for a processor does not count, so that a
 * machine which is busy with others changes nothing. Only Linux tells it; elsewhere all time counts.
 */
export async function endWithin({ pid, exited }: TestProcess, withinMs: number): Promise<Ending> {
  const startedAt = performance.now();
  const waitedBefore = await readWaitedMs(pid);
  let ended: Ending['ended'] = null;
  void exited.then((how) => (ended = how));
  for (let waitedMs = 0; ;) {
    const tookMs = performance.now() - startedAt - waitedMs;
    if (ended !== null || tookMs > withinMs) return { ended, tookMs };
    await sleep(LOOK_EVERY_MS);
    waitedMs = Math.max(waitedMs, (await readWaitedMs(pid)) - waitedBefore);
  }
}

/** How long the main thread of a process has been ready to run and did not, so far. */
async function readWaitedMs(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').catch(() => '');
  return Number(text.split(' ')[1] ?? 0) / 1e6;
}

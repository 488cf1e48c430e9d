import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestProcess } from '../../../setup/processes/test-process.js';

const CHECK_EVERY_MS = 10;

interface Ending {
  readonly ended: Awaited<TestProcess['exited']> | null;
  readonly tookMs: number;
}

/** Waits up to `withinMs` for a process to end. On Linux, excludes the time that its main thread waits for a CPU. */
export async function endWithin({ pid, exited }: TestProcess, withinMs: number): Promise<Ending> {
  const startedAt = performance.now();
  const waitedBefore = await readWaitedMs(pid);
  let ended: Ending['ended'] = null;
  void exited.then((how) => (ended = how));
  for (let waitedMs = 0; ;) {
    const tookMs = performance.now() - startedAt - waitedMs;
    if (ended !== null || tookMs > withinMs) return { ended, tookMs };
    await sleep(CHECK_EVERY_MS);
    waitedMs = Math.max(waitedMs, (await readWaitedMs(pid)) - waitedBefore);
  }
}

/** For `measureUntil`: returns false if the service exceeded its time limit, which happens on a stalled machine. */
export const stoppedInTime = ({
  service,
  ended,
}: {
  service: TestProcess;
  ended: Ending['ended'];
}): boolean => ended !== null && !service.logs().includes('stopping took too long');

/** Returns how long the main thread has waited for a CPU so far. */
async function readWaitedMs(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').catch(() => '');
  return Number(text.split(' ')[1] ?? 0) / 1e6;
}

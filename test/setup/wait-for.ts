import { setTimeout as sleep } from 'node:timers/promises';

type Result<T> = T | undefined | null | false;

/** The pause between two probes: a tenth of the time waited so far, so that long waits take less CPU time from other test files. */
const pauseMs = (waitedMs: number): number => Math.min(Math.max(20, waitedMs / 10), 100);

/** Calls `probe` until it returns a result. After `timeoutMs`, throws an error that names `what`. Default: longer than a busy machine needs. */
export async function waitFor<T>(
  what: string,
  probe: () => Promise<Result<T>> | Result<T>,
  timeoutMs = 60_000,
): Promise<T> {
  const startedAt = Date.now();
  let problem: unknown;
  for (;;) {
    try {
      const result = await probe();
      if (result !== undefined && result !== null && result !== false) return result;
      problem = undefined;
    } catch (error) {
      problem = error;
    }
    const waitedMs = Date.now() - startedAt;
    if (waitedMs > timeoutMs) throw new Error(`not within ${timeoutMs} ms: ${what}`, { cause: problem });
    await sleep(pauseMs(waitedMs));
  }
}

import { setTimeout as sleep } from 'node:timers/promises';

type Result<T> = T | undefined | null | false;

const PAUSE_MS = 20;

/** Calls `probe` until it returns a result. After `timeoutMs`, throws an error that names `what`. Default: longer than a busy machine needs. */
export async function waitFor<T>(
  what: string,
  probe: () => Promise<Result<T>> | Result<T>,
  timeoutMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let problem: unknown;
  for (;;) {
    try {
      const result = await probe();
      if (result !== undefined && result !== null && result !== false) return result;
      problem = undefined;
    } catch (error) {
      problem = error;
    }
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`, { cause: problem });
    await sleep(PAUSE_MS);
  }
}

import type { ActiveCallers } from '../../access/active-callers.service.js';
import type { Caller } from '../../access/acting-caller.js';

/** Runs `work`. Rejects with Problem unauthenticated, and aborts the signal of `work`, once the caller may no longer act. */
export async function whileActing<T>(
  callers: ActiveCallers,
  caller: Caller,
  work: (over: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  let unwatch = (): void => {};
  const refused = new Promise<never>((_, reject) => {
    unwatch = callers.watch(caller, (why) => {
      over.abort();
      reject(why);
    });
  });
  try {
    return await Promise.race([work(over.signal), refused]);
  } finally {
    unwatch();
  }
}

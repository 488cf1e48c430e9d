import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 5;

/** Measures the longest block of the event loop. On Linux, excludes the time that the thread waits for a CPU. */
export function watchLoop(): { readonly end: () => number } {
  let [lookedAt, waitedMs, longestMs] = [performance.now(), readWaitedMs(), 0];
  const look = (): void => {
    const [now, waited] = [performance.now(), readWaitedMs()];
    longestMs = Math.max(longestMs, now - lookedAt - LOOK_EVERY_MS - (waited - waitedMs));
    [lookedAt, waitedMs] = [now, waited];
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  return {
    end: () => {
      clearInterval(timer);
      look();
      return longestMs;
    },
  };
}

function readWaitedMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1] ?? 0) / 1e6;
  } catch {
    return 0;
  }
}

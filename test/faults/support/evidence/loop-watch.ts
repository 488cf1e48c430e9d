import { readFileSync } from 'node:fs';

const SAMPLE_EVERY_MS = 5;

/** Measures the longest block of the event loop. On Linux, excludes the time that the thread waits for a CPU. */
export function watchLoop(): { readonly end: () => number } {
  let [sampledAt, waitedMs, longestMs] = [performance.now(), readWaitedMs(), 0];
  const sample = (): void => {
    const [now, waited] = [performance.now(), readWaitedMs()];
    longestMs = Math.max(longestMs, now - sampledAt - SAMPLE_EVERY_MS - (waited - waitedMs));
    [sampledAt, waitedMs] = [now, waited];
  };
  const timer = setInterval(sample, SAMPLE_EVERY_MS);
  return {
    end: () => {
      clearInterval(timer);
      sample();
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

import { useSyncExternalStore } from 'react';

// One timer for all ages on the page. It stops while nothing shows an age.
const listeners = new Set<() => void>();
let now = new Date();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = new Date();
    for (const each of listeners) each();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Returns the time, and renders again every second. */
export const useNow = (): Date => useSyncExternalStore(subscribe, () => now);

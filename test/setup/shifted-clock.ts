import { jest } from '@jest/globals';
import type { Database } from '../../src/platform/database/database.js';

/** Shifts the clock of this process by `ms`, until `jest.useRealTimers()`. Timers are unchanged. */
export function shiftClock(ms: number): void {
  jest.useFakeTimers({
    now: Date.now() + ms,
    advanceTimers: true,
    doNotFake: [
      'hrtime',
      'nextTick',
      'performance',
      'queueMicrotask',
      'setImmediate',
      'clearImmediate',
      'setInterval',
      'clearInterval',
      'setTimeout',
      'clearTimeout',
    ],
  });
}

/** Returns the time of the database in epoch milliseconds. */
export async function databaseTime(database: Database): Promise<number> {
  const [row] = await database.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  return row!.now.getTime();
}

import { describe, expect, it } from '@jest/globals';
import { addDuration, areSlow, countSlow, type CallDuration } from './slow-calls.rules.js';

const MINUTE_MS = 60_000;
const calls = (...seconds: number[]): readonly CallDuration[] =>
  seconds.reduce<readonly CallDuration[]>(
    (latest, each, n) => addDuration(latest, { endedAt: n, seconds: each }),
    [],
  );

describe('the calls of an operation', () => {
  it.each<[string, number[], boolean]>([
    ['are slow if most took over 2 seconds', [0.1, 4, 4, 4], true],
    ['are not slow after two slow calls', [4, 4], false],
    ['are not slow if they took 2 seconds', [2, 2, 2, 2], false],
    ['are not slow if as many are fast', [4, 0.1, 4, 0.1, 4, 0.1], false],
    [
      'are slow if most of the latest 20 are, whatever was before',
      [...Array<number>(50).fill(0.1), ...Array<number>(11).fill(4)],
      true,
    ],
    [
      'are no longer slow after three fast ones in a row',
      [...Array<number>(20).fill(4), 0.1, 0.1, 0.1],
      false,
    ],
    ['are still slow after two fast ones', [4, 4, 4, 0.1, 0.1], true],
    ['are slow again after three further slow ones', [4, 4, 4, 0.1, 0.1, 0.1, 4, 4, 4, 4], true],
    [
      'are no longer slow when most of the latest 20 are fast',
      [...Array<number>(50).fill(4), ...Array<number>(10).fill(0.1)],
      false,
    ],
  ])('%s', (_, seconds, slow) => expect(areSlow(countSlow(calls(...seconds), 0))).toBe(slow));

  it('are no longer slow 5 minutes after the last slow one', () => {
    expect(areSlow(countSlow(calls(4, 4, 4), 5 * MINUTE_MS - 1))).toBe(true);
    expect(areSlow(countSlow(calls(4, 4, 4), 5 * MINUTE_MS))).toBe(false);
    expect(areSlow(countSlow(calls(4, 4, 4), 6 * MINUTE_MS))).toBe(false);
  });
});

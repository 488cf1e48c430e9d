import { expect, it, jest } from '@jest/globals';
import { OperationGate } from './operation-gate.js';
import { addWait, describeTrouble, type RequestedWait } from './requested-waits.rules.js';

/** Returns the waits after requests to wait for `seconds` each, at `starts` (in seconds). */
const requested = (seconds: number, ...starts: number[]) =>
  starts.reduce<readonly RequestedWait[]>(
    (waits, from) => addWait(waits, { from: from * 1_000, until: (from + seconds) * 1_000 }),
    [],
  );

it('a wait of a minute is trouble, and a shorter one is not', () => {
  expect(describeTrouble(requested(60, 0))).toBe('asked to wait for 60 s');
  expect(describeTrouble(requested(59, 0))).toBeNull();
});

it('shorter waits are trouble once they last a minute within 5 minutes', () => {
  expect(describeTrouble(requested(33, 0, 34))).toBe('asked to wait for 33 s, 2 times within 5 minutes');
  expect(describeTrouble(requested(33, 0, 400))).toBeNull();
  expect(describeTrouble(requested(1, 0, 10, 20, 30))).toBeNull();
});

it('waits count for 5 minutes, and one that begins at the end of another is another', () => {
  expect(requested(60, 0, 359)).toHaveLength(2);
  expect(requested(60, 0, 360)).toHaveLength(1);
  expect(requested(30, 0, 30)).toHaveLength(2);
});

it('several responses about the same wait count once', () => {
  expect(requested(33, 0, 0.01, 1)).toEqual([{ from: 0, until: 34_000, longestMs: 33_000 }]);
  expect(describeTrouble(requested(80, 0, 0.4))).toBe('asked to wait for 80 s');
  expect(describeTrouble(requested(33, 0, 0.01, 1))).toBeNull();
  expect(requested(10, 0, 60, 61)).toEqual([
    { from: 0, until: 10_000 },
    { from: 60_000, until: 71_000, longestMs: 10_000 },
  ]);
});

it('the status shows the longest of the waits that overlap', () => {
  const gate = new OperationGate(1_000);
  const shown = [
    [0, 60_000],
    [50_000, 30_000],
    [100_000, 5_000],
  ].map(([now, ms]) => {
    jest.spyOn(performance, 'now').mockReturnValue(now!);
    gate.quiet(ms!);
    return gate.status().requestedWaitMs;
  });
  jest.restoreAllMocks();
  expect(shown).toEqual([60_000, 60_000, 5_000]);
});

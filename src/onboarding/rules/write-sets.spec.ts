import { describe, expect, it } from '@jest/globals';
import type { Reading } from './reconcile.rules.js';
import { bytesToWrite, countOfSet } from './write-sets.rules.js';

const MEGABYTE = 1_048_576;
const observed = (body: string | null, inverters: readonly string[] | null) =>
  ({ kind: 'observed', response: { body }, observation: { inverters } }) as Reading;

describe('the bytes of a reading', () => {
  it.each<[string, Reading, number | undefined, number]>([
    ['a body', observed('12345', []), undefined, 5],
    ['a body and inverters', observed('12345', ['a', 'b']), 3, 25_005],
    ['nothing but known inverters', observed(null, null), 2, 10_000],
    ['no new response', { kind: 'unchanged' }, 3, 15_000],
    ['a session that is gone', { kind: 'gone', status: 404 }, undefined, 0],
  ])('are those of %s', (_, reading, known, bytes) => expect(bytesToWrite(reading, known)).toBe(bytes));
});

it.each([
  [[], 0],
  [[5], 1],
  [[1, 1, 1], 3],
  [[2, 2], 2],
  [[2, 2, 0.000001], 2],
  [[1, 4, 1], 1],
  [[5, 1], 1],
])('of items of %j MB, the first %i are written together', (megabytes, count) => {
  expect(countOfSet(megabytes, (each) => each * MEGABYTE)).toBe(count);
});

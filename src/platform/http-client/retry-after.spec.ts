import { describe, expect, it } from '@jest/globals';
import { readRetryAfter, respondedAt } from './retry-after.rules.js';

const NOW = new Date('2026-11-20T10:00:00Z');

describe('Retry-After', () => {
  it.each<[string | undefined, number | undefined]>([
    ['0', 0],
    ['7', 7_000],
    [' 7 ', 7_000],
    ['3600', 3_600_000],
    ['31536000', 3_600_000],
    ['9'.repeat(400), 3_600_000],
    ['Fri, 20 Nov 2026 10:00:30 GMT', 30_000],
    ['Friday, 20-Nov-26 10:00:30 GMT', 30_000],
    ['Fri Nov 20 10:00:30 2026', 30_000],
    ['Fri, 20 Nov 2026 09:00:00 GMT', 0],
    ['Wed, 01 Jan 2076 00:00:00 GMT', 3_600_000],
    ['-5', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['soon', undefined],
    ['Someday', undefined],
    ['20 Nov 2026 10:00:30 GMT', undefined],
    ['Fr, 20 Nov 2026 10:00:30 GMT', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%j is %j ms', (value, waitMs) => expect(readRetryAfter(value, NOW)).toBe(waitMs));

  it.each([
    ['Fri, 20 Nov 2026 09:59:30 GMT', new Date('2026-11-20T09:59:30Z')],
    ['Fri Nov  6 09:59:30 2026', new Date('2026-11-06T09:59:30Z')],
    ['no date', NOW],
    [undefined, NOW],
  ])('counts from the time of a response with the Date %s', (date, at) =>
    expect(respondedAt(date, NOW)).toEqual(at),
  );
});

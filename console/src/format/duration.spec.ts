import { describe, expect, it } from '@jest/globals';
import { formatAge, formatSeconds } from './duration.js';

describe('a duration', () => {
  it.each([
    [0, '0 s'],
    [0.21, '0.2 s'],
    [9.96, '10 s'],
    [59.6, '1 min'],
    [125, '2 min 5 s'],
    [3_599.7, '1 h'],
    [7_530, '2 h 6 min'],
    [86_399, '1 d'],
    [90_000, '1 d 1 h'],
    [-30, '−30 s'],
  ])('of %d seconds is written %s', (seconds, text) => expect(formatSeconds(seconds)).toBe(text));

  it('is told as an age, whatever the clocks differ by', () => {
    const now = new Date('2026-11-26T12:00:00Z');
    const at = (time: string) => formatAge(new Date(`2026-11-26T${time}Z`), now);
    expect([at('11:58:00'), at('12:00:03'), at('13:30:00')]).toEqual(['2 min ago', 'now', 'in 1 h 30 min']);
  });
});

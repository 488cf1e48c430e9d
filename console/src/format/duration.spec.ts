import { describe, expect, it } from '@jest/globals';
import { formatAge, formatLatency, formatSeconds } from './duration.js';
import { countOf, eventNameOf, formatNumber, wordsOf } from './words.js';

describe('a duration', () => {
  it.each([
    [0, '0 s'],
    [0.21, '0.2 s'],
    [9.94, '9.9 s'],
    [9.95, '10 s'],
    [60, '1 min'],
    [3_569, '59 min 29 s'],
    [3_600, '1 h'],
    [3_630, '1 h 1 min'],
    [86_400, '1 d'],
    [59.6, '1 min'],
    [125, '2 min 5 s'],
    [3_599.7, '1 h'],
    [7_530, '2 h 6 min'],
    [86_399, '1 d'],
    [90_090, '1 d 1 h'],
    [-30, '−30 s'],
  ])('of %d seconds is written %s', (seconds, text) => expect(formatSeconds(seconds)).toBe(text));

  it('is told as an age, whatever the clocks differ by', () => {
    const now = new Date('2026-11-26T12:00:00Z');
    const at = (time: string) => formatAge(new Date(`2026-11-26T${time}Z`), now);
    expect([at('11:58:00'), at('12:00:03'), at('13:30:00')]).toEqual(['2 min ago', 'now', 'in 1 h 30 min']);
    const days = (count: number) => formatAge(new Date(now.getTime() - count * 86_400_000), now);
    expect([at('11:57:05'), at('01:59:00'), days(2.6), days(41.6)]).toEqual([
      '2 min ago',
      '10 h ago',
      '2 d 14 h ago',
      '41 d ago',
    ]);
    expect([at('11:59:55'), at('11:59:56'), at('12:00:05')]).toEqual(['5 s ago', 'now', 'in 5 s']);
  });

  it.each([
    [0.0124, '12 ms'],
    [0.9994, '999 ms'],
    [0.9995, '1 s'],
    [1.26, '1.3 s'],
  ])('of a call of %d seconds is written %s', (seconds, text) => expect(formatLatency(seconds)).toBe(text));
});

describe('a count', () => {
  it.each([
    [0, '0 cases'],
    [1, '1 case'],
    [1_204.26, '1,204.3 cases'],
  ])('of %d is written %s', (count, text) => expect(countOf(count, 'case')).toBe(text));

  it('may have a plural of its own', () => expect(countOf(2, 'entry', 'entries')).toBe('2 entries'));

  it('has one decimal at most', () =>
    expect([0.04, 0.25, 1e6].map(formatNumber)).toEqual(['0', '0.3', '1,000,000']));
});

it('a word of the API is written with blanks', () => expect(wordsOf('not_yet_known')).toBe('not yet known'));
it('an event is named without what all types have', () =>
  expect(eventNameOf('pv.session.awaiting_owner.v1')).toBe('session.awaiting_owner'));

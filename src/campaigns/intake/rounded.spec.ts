import { describe, expect, it } from '@jest/globals';
import { ROUNDED_FORMS, type Look } from '../../users/rounded.rules.js';
import { addLook, areMostRounded, doubtfulLines, noCounts, programsOf } from './rounded.rules.js';

describe('the long numbers of a file', () => {
  const WRONG_ONE = { form: 'all_digits', isWrong: true } as const;
  const FITTING = { form: 'all_digits', isWrong: false } as const;
  const TRUE_ONE = { form: undefined, isWrong: false };
  /** Counts numbers, one on each line. */
  const countsOf = (...looks: Look[]) => {
    const counts = noCounts();
    looks.forEach((look, index) => addLook(counts, index + 1, look));
    return counts;
  };

  it('are mostly rounded if more than half of them look so, and more than one', () => {
    const isOf = (...looks: Look[]) => areMostRounded(countsOf(...looks));
    const two = [WRONG_ONE, { form: 'fifteen_digits', isWrong: false }] as const;
    expect([isOf(WRONG_ONE), isOf(...two), isOf(...two, TRUE_ONE)]).toEqual([false, true, true]);
    expect(isOf(...two, TRUE_ONE, TRUE_ONE)).toBe(false);
  });

  it('are doubtful if most of their form are wrong', () => {
    expect(doubtfulLines(countsOf(WRONG_ONE, FITTING))).toEqual([]);
    expect(doubtfulLines(countsOf(WRONG_ONE, FITTING, WRONG_ONE))).toEqual([2]);
  });

  it('name their first lines once each, and the programs that wrote a tenth of them', () => {
    const counts = countsOf(WRONG_ONE, TRUE_ONE);
    addLook(counts, 3, WRONG_ONE);
    addLook(counts, 3, WRONG_ONE);
    expect(counts).toMatchObject({ long: 4, firstLines: [1, 3] });
    const fifteen = { form: 'fifteen_digits', isWrong: true } as const;
    for (let line = 4; line < 31; line++) addLook(counts, line, fifteen);
    const { fifteen_digits, all_digits } = ROUNDED_FORMS;
    expect(programsOf(counts)).toBe(`${fifteen_digits}; ${all_digits}`);
    addLook(counts, 31, fifteen);
    expect(programsOf(counts)).toBe(fifteen_digits);
  });
});

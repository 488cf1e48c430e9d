import { expect, it } from '@jest/globals';
import { ROUNDED_FORMS, type Look } from '../../users/rounded.rules.js';
import { addRow, noLooks, roundedFileFault, roundedLines } from './rounded.rules.js';
import type { ReadRow } from './row.rules.js';

const WRONG_ONE: Look = { form: 'all_digits', isWrong: true };
const FITTING: Look = { form: 'all_digits', isWrong: false };
const FIFTEEN: Look = { form: 'fifteen_digits', isWrong: false };
const TRUE_ONE: Look = { form: undefined, isWrong: false };

/** Counts the EANs of a file, one on each line. */
function looksOf(...looks: Look[]) {
  const ofFile = noLooks();
  const rest = { tenantReference: null, problems: [] } as unknown as ReadRow;
  looks.forEach((look, index) => addRow(ofFile, { ...rest, line: index + 1, looks: [look] }));
  return ofFile;
}
const faultOf = (...looks: Look[]) => roundedFileFault(looksOf(...looks), 'off', false);

it('the EANs of a file are mostly rounded if more than half of them look so, and more than one', () => {
  expect(faultOf(WRONG_ONE)).toBeUndefined();
  expect(faultOf(WRONG_ONE, FIFTEEN)).toMatch(/^2 of 2 /);
  expect(faultOf(WRONG_ONE, FIFTEEN, TRUE_ONE)).toMatch(/^2 of 3 /);
  expect(faultOf(WRONG_ONE, FIFTEEN, TRUE_ONE, TRUE_ONE)).toBeUndefined();
});

it('the EANs of a file are doubtful if most of their form are wrong', () => {
  expect(roundedLines(looksOf(WRONG_ONE, FITTING), 'warn')).toEqual([]);
  expect(roundedLines(looksOf(WRONG_ONE, FITTING, WRONG_ONE), 'warn')).toEqual([2]);
});

it('the programs are named that wrote a tenth of the rounded EANs of a file', () => {
  const { fifteen_digits, all_digits } = ROUNDED_FORMS;
  const withFifteen = (count: number) =>
    faultOf(...Array<Look>(3).fill(WRONG_ONE), ...Array<Look>(count).fill(FIFTEEN));
  expect(withFifteen(27)).toContain(`Programs that do this: ${fifteen_digits}; ${all_digits}. `);
  expect(withFifteen(28)).toContain(`Programs that do this: ${fifteen_digits}. `);
});

import { eanFault, isRounded, lookOfEan, readEan, type CheckDigitRule } from '../../users/ean.rules.js';
import type { Look } from '../../users/rounded.rules.js';
import { jsonNumberText } from '../../platform/json/lossless.js';
import type { RowProblem } from '../campaign.rules.js';

/** The EAN of a cell, if it is usable, and the problem of the cell, if there is one. */
export interface ReadEan {
  readonly ean: string | null;
  readonly problem?: Pick<RowProblem, 'code' | 'message'>;
  /** What its digits look like. Undefined if they are not 18 digits. */
  readonly look?: Look;
}

/** How a value is read. `isConfirmed`: whether the row says that its EAN is right although it looks rounded. */
interface Reading {
  readonly rule: CheckDigitRule;
  readonly isConfirmed: boolean;
}

const ROUNDED =
  'A program has rounded this EAN, and its last digits are lost: take it from your system again, as a text';
const CONFIRM = 'If it is right, write true in a column eanConfirmed';
const PERHAPS_ROUNDED =
  'The last digits of this EAN may have been rounded, although its check digit fits: compare it with the EAN in your system';
export const ROUNDED_TOO = `Other EANs of this file are rounded, and this one looks as they do: its last digits are probably lost, although its check digit fits. ${CONFIRM}`;
export const JOINED =
  'A byte order mark stands here: two files were joined. Upload each as a campaign of its own';
/** Matches every kind of blank, including invisible characters that are copied from web pages and PDFs. */
const BLANKS = /[\s\p{Cf}]/gu;
const SCIENTIFIC = /^\d+([.,]\d+)?e\+?\d+$/i;
/** Matches a number as written by a program that has calculated with it. */
const WITH_FRACTION = /^\d+[.,]0*$/;
const SHORTENED: Look = { form: 'exponent', isWrong: true };

/** Reads an EAN from a cell. Ignores blanks, and an apostrophe before the EAN, by which Excel marks text. */
export function readEanCell(cell: string, reading: Reading): ReadEan {
  const text = cell.replace(BLANKS, '').replace(/^'/, '');
  if (text === '') return faulty('required', 'The EAN is missing');
  if (SCIENTIFIC.test(text)) return { ...faulty('ean_rounded', ROUNDED), look: SHORTENED };
  if (WITH_FRACTION.test(text))
    return faulty('ean_rounded', `${ROUNDED} (it ends like a number with decimals)`);
  if (!/^\d+$/.test(text))
    return faulty(
      'ean_invalid',
      cell.startsWith('\ufeff') ? JOINED : 'An EAN has 18 digits from 0 to 9 and nothing else',
    );
  if (text.length === 17)
    return faulty(
      'ean_length',
      '17 digits instead of 18: was a leading digit lost? Format the column as text',
    );
  if (text.length !== 18) return faulty('ean_length', `An EAN has 18 digits, not ${text.length}`);
  return checked(text, reading);
}

/** Reads an EAN from a value of JSON. */
export function readEanValue(value: unknown, reading: Reading): ReadEan {
  if (typeof value === 'string') return readEanCell(value, reading);
  if (value === undefined || value === null) return readEanCell('', reading);
  if (eanFault(value) === undefined) return checked(readEan(value), reading);
  const { problem, look } = readEanCell(jsonNumberText(value) ?? '', reading);
  return problem?.code === 'ean_rounded'
    ? { ean: null, problem, look }
    : faulty('ean_invalid', 'An EAN must be a text of 18 digits');
}

function checked(ean: string, { rule, isConfirmed }: Reading): ReadEan {
  if (eanFault(ean) !== undefined)
    return faulty('ean_invalid', 'An EAN of a grid connection does not begin with 0');
  const { form, isWrong } = lookOfEan(ean);
  const look = { form: isConfirmed ? undefined : form, isWrong };
  if (isRounded(look, rule)) return { ...faulty('ean_rounded', `${ROUNDED}. ${CONFIRM}`), look };
  if (rule === 'off') return { ean, look };
  if (isWrong) {
    const message = 'The last digit does not fit the others (GS1 check digit): a digit is probably mistyped';
    return { ean: rule === 'enforce' ? null : ean, problem: { code: 'ean_check_digit', message }, look };
  }
  // Other forms are too frequent among true EANs for a warning about each.
  return look.form !== 'fifteen_digits'
    ? { ean, look }
    : { ean, problem: { code: 'ean_perhaps_rounded', message: PERHAPS_ROUNDED }, look };
}

const faulty = (code: RowProblem['code'], message: string): ReadEan => ({
  ean: null,
  problem: { code, message },
});

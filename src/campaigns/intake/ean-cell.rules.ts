import { eanFault, hasValidCheckDigit, isOfDouble, readEan } from '../../users/ean.rules.js';
import type { RowProblem } from '../campaign.rules.js';

export type CheckDigitRule = 'off' | 'warn' | 'enforce';

/** The EAN of a cell, if it is usable, and the problem of the cell, if there is one. */
export interface ReadEan {
  readonly ean: string | null;
  readonly problem?: Pick<RowProblem, 'code' | 'message'>;
}

const ROUNDED =
  'Excel has rounded this EAN, and its last digits are lost: format the column as text, paste the EANs again, and export again';
const ROUNDED_NUMBER =
  'The program that wrote the file has rounded this EAN, and its last digits are lost: write it as a text, in quotes';
export const PERHAPS_ROUNDED =
  'The last digits of this EAN may have been rounded, although its check digit fits: compare it with the EAN in your system';
export const ROUNDED_TOO =
  'Other EANs of this file are rounded, and this one looks as they do: its last digits are probably lost, although its check digit fits';
export const JOINED =
  'A byte order mark stands here: two files were joined. Upload each as a campaign of its own';
/** Matches every kind of blank, including invisible characters that are copied from web pages and PDFs. */
const BLANKS = /[\s\p{Cf}]/gu;
const SCIENTIFIC = /^\d+([.,]\d+)?e\+?\d+$/i;
/** Matches a number as written by a program that has calculated with it. */
const WITH_FRACTION = /^\d+[.,]0*$/;
/** Excel keeps 15 digits of a number. The last digits of an EAN of 18 digits are then zeros. */
const ROUNDED_END = '000';

/** Reads an EAN from a cell. Ignores blanks, and an apostrophe before the EAN, by which Excel marks text. */
export function readEanCell(cell: string, rule: CheckDigitRule): ReadEan {
  const text = cell.replace(BLANKS, '').replace(/^'/, '');
  if (text === '') return faulty('required', 'The EAN is missing');
  if (SCIENTIFIC.test(text)) return faulty('ean_rounded', ROUNDED);
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
  return checked(text, rule, text.endsWith(ROUNDED_END) ? ROUNDED : undefined);
}

/** Reads an EAN from a value of JSON. */
export function readEanValue(value: unknown, rule: CheckDigitRule): ReadEan {
  if (typeof value === 'string') return readEanCell(value, rule);
  if (value === undefined || value === null) return readEanCell('', rule);
  if (eanFault(value) !== undefined) return faulty('ean_invalid', 'An EAN must be a text of 18 digits');
  const text = readEan(value);
  return checked(text, rule, isOfDouble(text) ? ROUNDED_NUMBER : undefined);
}

/** Checks 18 digits. `rounded`: the message if they look rounded, which a wrong check digit confirms. */
function checked(ean: string, rule: CheckDigitRule, rounded: string | undefined): ReadEan {
  if (eanFault(ean) !== undefined)
    return faulty('ean_invalid', 'An EAN of a grid connection does not begin with 0');
  if (hasValidCheckDigit(ean))
    return rounded === undefined
      ? { ean }
      : { ean, problem: { code: 'ean_perhaps_rounded', message: PERHAPS_ROUNDED } };
  if (rounded !== undefined) return faulty('ean_rounded', rounded);
  if (rule === 'off') return { ean };
  const message = 'The last digit does not fit the others (GS1 check digit): a digit is probably mistyped';
  return { ean: rule === 'enforce' ? null : ean, problem: { code: 'ean_check_digit', message } };
}

const faulty = (code: RowProblem['code'], message: string): ReadEan => ({
  ean: null,
  problem: { code, message },
});

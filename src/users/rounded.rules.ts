// Programs that hold a number as a double (Excel, JavaScript, pandas) alter its last digits from the 16th or 17th on. Each of them writes
// a double in one of a few forms, so a number that has such a form looks rounded. Of true numbers of 18 digits, 2 to 3 % have one by chance
// (measured in test/faults/users/rounded.spec.ts). So one number is refused only with further evidence, such as a wrong check digit.

/** The forms of a rounded number, each with programs that write it. */
export const ROUNDED_FORMS = {
  exponent: 'Excel and LibreOffice show a long number as 1.23E+17',
  fifteen_digits: 'Excel, LibreOffice and Google Sheets keep 15 digits and write zeros for the others',
  shortest_digits:
    'JavaScript, SheetJS, Google Apps Script and JSON read by them write 15 to 17 digits and zeros',
  all_digits: 'pandas, xlsx2csv, R, awk and printf write all digits of the nearest double',
} as const;
export type RoundedForm = keyof typeof ROUNDED_FORMS;

/** Every double keeps 15 digits of a number. */
const KEPT_DIGITS = 15;
/** From here on, doubles are 16 or more apart, so few integers equal a double by chance. */
const COARSE = 2 ** 56;

/**
 * Matches a number as Excel shows it in a narrow column, such as 1.23E+17, as Java writes it, such as 4.001234E17, and as pandas writes a
 * long one, such as 40000012345678912.0. A text such as `1E10` or `1.5E10` may be a code.
 */
const SHORTENED = /^(?:\d(?:(?:[.,]\d+)?E\+|[.,]\d{3,}E)\d{2,3}|\d{16,}[.,]0{1,2})$/i;

export const isShortened = (text: string): boolean => SHORTENED.test(text);

/** Returns the form in which a program may have written `digits` after it had rounded them. Returns undefined if there is none. */
export function roundedForm(digits: string): RoundedForm | undefined {
  const lost = digits.length - KEPT_DIGITS;
  if (lost < 1) return undefined;
  if (digits.endsWith('0'.repeat(lost))) return 'fifteen_digits';
  // A double has at most 17 digits, and the 17th is not always needed.
  if (lost > 2 && digits.endsWith('0'.repeat(lost - 1))) return 'shortest_digits';
  const double = Number(digits);
  if (double < COARSE) return undefined;
  if (digits === BigInt(double).toString()) return 'all_digits';
  return digits === padded(double) || digits === padded(double, 17) ? 'shortest_digits' : undefined;
}

/** Returns the first significant digits of a double, and zeros for the others. Default: as many digits as identify the double. */
function padded(double: number, significant?: number): string {
  const [digits = '', exponent] = double
    .toExponential(significant === undefined ? undefined : significant - 1)
    .replace('.', '')
    .split('e');
  return digits.padEnd(Number(exponent) + 1, '0');
}

/** What a number looks like. `isWrong`: it has a wrong check digit, or has lost digits for certain. */
export interface Look {
  readonly form: RoundedForm | undefined;
  readonly isWrong: boolean;
}

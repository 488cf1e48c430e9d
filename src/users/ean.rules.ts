import { hasValidCheckDigit } from '../platform/ean-digits.rules.js';
import { jsonNumberText } from '../platform/json/lossless.js';
import type { FieldError } from '../platform/problem/problem.js';
import { roundedForm, type Look } from './rounded.rules.js';

/** The EAN of a grid connection in Belgium or the Netherlands is a GS1 number of 18 digits. It is stored as text to keep every digit. */
const EAN_DIGITS = 18;
/** The most grid locations of one registration. No customer has as many, and the request stays small. */
export const MAX_GRID_LOCATIONS = 100;
export const EAN_PATTERN = '^[1-9][0-9]{17}$';

/** What a wrong check digit is: nothing, a warning or an error (EAN_CHECK_DIGIT). */
export type CheckDigitRule = 'off' | 'warn' | 'enforce';

export const EAN_WARNINGS = ['ean_check_digit', 'ean_elsewhere'] as const;

/** A warning about an accepted EAN. Like an error, it names the field and never repeats the EAN. */
interface EanWarning extends FieldError {
  readonly code: (typeof EAN_WARNINGS)[number];
}

/** Returns why `value` (text or JSON number) is not an EAN, else undefined. Never repeats it, since an EAN identifies a household. */
export function eanFault(value: unknown): string | undefined {
  if (typeof value !== 'string' && jsonNumberText(value) === undefined)
    return 'must be an EAN: 18 digits, as a string or as a number';
  const text = readEan(value);
  if (!/^[0-9]+$/.test(text)) {
    return typeof value === 'string'
      ? 'must be 18 digits from 0 to 9 and nothing else'
      : 'must be 18 digits without sign, fraction or exponent';
  }
  if (text.length !== EAN_DIGITS) return `must have 18 digits, not ${text.length}`;
  if (text.startsWith('0')) {
    return 'must not begin with 0: the Solar Curtailment Service takes an EAN as a JSON number, which cannot begin with 0';
  }
  return undefined;
}

/** Returns the 18 digits of a value that `eanFault` accepts. */
export const readEan = (value: unknown): string => String(value);

export const lookOfEan = (ean: string): Look => ({
  form: roundedForm(ean),
  isWrong: !hasValidCheckDigit(ean),
});

/**
 * Returns whether a program has certainly rounded an EAN: it looks rounded, and its check digit is wrong. Under `off`, a check digit proves
 * nothing, and only most EANs of a file together do.
 */
export const isRounded = ({ form, isWrong }: Look, rule: CheckDigitRule): boolean =>
  form !== undefined && isWrong && rule !== 'off';

/**
 * Returns an error for each EAN in `gridLocations` of `body` that a program has certainly rounded, unless `body` confirms its EANs.
 * `known`: EANs of the existing registration, which are never reported.
 */
export function roundedEans(
  body: unknown,
  rule: CheckDigitRule,
  known: readonly string[] = [],
): FieldError[] {
  const { gridLocations, eanConfirmed } = (body ?? {}) as {
    readonly gridLocations?: unknown;
    readonly eanConfirmed?: unknown;
  };
  if (!Array.isArray(gridLocations) || eanConfirmed === true) return [];
  return gridLocations.flatMap((item: { readonly ean?: unknown } | null, index) => {
    const ean = item?.ean;
    if (eanFault(ean) !== undefined) return [];
    const text = readEan(ean);
    return isRounded(lookOfEan(text), rule) && !known.includes(text) ? [fieldError(index, ROUNDED)] : [];
  });
}

/** Returns the EANs as sent, with an error for each duplicate. `rule`: whether a wrong check digit is ignored, a warning or an error. */
export function readGridLocations(gridLocations: readonly { ean: unknown }[], rule: CheckDigitRule) {
  const eans = gridLocations.map(({ ean }) => readEan(ean));
  const duplicates = eans.flatMap((ean, index) => {
    const first = eans.indexOf(ean);
    return first < index ? [fieldError(index, `must not repeat gridLocations[${first}].ean`)] : [];
  });
  const wrong = eans.flatMap((ean, index) =>
    hasValidCheckDigit(ean) ? [] : [fieldError(index, WRONG_CHECK_DIGIT)],
  );
  return {
    eans,
    errors: rule === 'enforce' ? [...duplicates, ...wrong] : duplicates,
    warnings:
      rule === 'warn' ? wrong.map((error): EanWarning => ({ ...error, code: 'ean_check_digit' })) : [],
  };
}

/** Returns a warning for each EAN that other references have. `others`: the number of these references, by EAN. */
export const warnOfOthers = (eans: readonly string[], others: ReadonlyMap<string, number>): EanWarning[] =>
  eans.flatMap((ean, index) => {
    const count = others.get(ean) ?? 0;
    if (count === 0) return [];
    const who = count === 1 ? 'tenantReference has' : 'tenantReferences have';
    return [{ ...fieldError(index, `${count} other ${who} this EAN`), code: 'ean_elsewhere' }];
  });

const ROUNDED =
  'looks rounded, and its check digit is wrong: send all digits as a string, or `eanConfirmed: true` if it is right';

const WRONG_CHECK_DIGIT = 'does not end with its GS1 check digit; a digit is probably mistyped';

const fieldError = (index: number, message: string): FieldError => ({
  field: `gridLocations[${index}].ean`,
  message,
});

import { jsonNumberText } from '../platform/json/lossless.js';
import type { FieldError } from '../platform/problem/problem.js';

/** The EAN of a grid connection in Belgium or the Netherlands is a GS1 number of 18 digits. It is stored as text to keep every digit. */
const EAN_DIGITS = 18;
/** The most grid locations of one registration. No customer has as many, and the request stays small. */
export const MAX_GRID_LOCATIONS = 100;
export const EAN_PATTERN = '^[1-9][0-9]{17}$';

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

/** Returns whether the last digit is the GS1 check digit (General Specifications, section 7.9): weights 3, 1, 3, … from the right. */
export function hasValidCheckDigit(ean: string): boolean {
  const data = [...ean.slice(0, -1)].map(Number);
  const sum = data.reduceRight(
    (total, digit, index) => total + digit * ((data.length - index) % 2 === 1 ? 3 : 1),
    0,
  );
  return (10 - (sum % 10)) % 10 === Number(ean.at(-1));
}

/**
 * Returns whether a client may have written these digits from a double: as the shortest digits (JSON.stringify: 541448860004178050) or
 * as the exact value (C's `%.0f`: 541448860004178048). The two forms seldom agree, so both are compared.
 */
export const isOfDouble = (digits: string): boolean =>
  [String(Number(digits)), Number(digits).toFixed(0)].includes(digits);

/**
 * Returns an error for each EAN in `gridLocations` of `body` that the client has probably rounded: a bare number with the digits of a
 * double and a wrong check digit. `known`: EANs of the existing registration, which are never reported.
 */
export function roundedEans(body: unknown, known: readonly string[] = []): FieldError[] {
  const { gridLocations } = (body ?? {}) as { readonly gridLocations?: unknown };
  if (!Array.isArray(gridLocations)) return [];
  return gridLocations.flatMap((item: { readonly ean?: unknown } | null, index) => {
    const ean = item?.ean;
    if (typeof ean === 'string' || eanFault(ean) !== undefined) return [];
    const text = readEan(ean);
    return isOfDouble(text) && !hasValidCheckDigit(text) && !known.includes(text)
      ? [fieldError(index, 'is a number that the client has rounded: send it as a string')]
      : [];
  });
}

/** Returns the EANs as sent, with an error for each duplicate. `rule`: whether a wrong check digit is ignored, a warning or an error. */
export function readGridLocations(
  gridLocations: readonly { ean: unknown }[],
  rule: 'off' | 'warn' | 'enforce',
) {
  const eans = gridLocations.map(({ ean }) => readEan(ean));
  const duplicates = eans.flatMap((ean, index) => {
    const first = eans.indexOf(ean);
    return first < index ? [fieldError(index, `must not repeat gridLocations[${first}].ean`)] : [];
  });
  const wrong = eans.flatMap((ean, index) =>
    rule === 'off' || hasValidCheckDigit(ean) ? [] : [fieldError(index, WRONG_CHECK_DIGIT)],
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

const WRONG_CHECK_DIGIT = 'does not end with its GS1 check digit; a digit is probably mistyped';

const fieldError = (index: number, message: string): FieldError => ({
  field: `gridLocations[${index}].ean`,
  message,
});

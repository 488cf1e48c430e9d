import { jsonNumberText } from '../platform/json/lossless.js';

/** An EAN identifies a grid connection in Belgium or the Netherlands: a GS1 number of 18 digits. It is text, so that no digit is lost. */
const EAN_DIGITS = 18;

/**
 * Returns why `value` is not an EAN, or undefined if it is one. Accepts a string of 18 digits and a bare JSON number whose text is 18
 * digits. An EAN leads to a household, so no message repeats the value.
 */
export function eanFault(value: unknown): string | undefined {
  const text = eanText(value);
  if (text === undefined) return 'must be an EAN: 18 digits, as a string or as a number';
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

/** Returns the 18 digits of a value that `eanFault` accepts. Throws TypeError for any other value. */
export function readEan(value: unknown): string {
  const fault = eanFault(value);
  if (fault !== undefined) throw new TypeError(`an EAN ${fault}`);
  return eanText(value) as string;
}

/**
 * Returns whether the last digit is the one that GS1 computes from the 17 before it: weights 3, 1, 3, … from the right (GS1 General
 * Specifications, section 7.9).
 */
export function hasValidCheckDigit(ean: string): boolean {
  const data = [...ean.slice(0, -1)].map(Number);
  const sum = data.reduceRight(
    (total, digit, index) => total + digit * ((data.length - index) % 2 === 1 ? 3 : 1),
    0,
  );
  return (10 - (sum % 10)) % 10 === Number(ean.at(-1));
}

/** Returns whether two lists contain the same EANs, in any order. */
export function sameEans(some: readonly string[], others: readonly string[]): boolean {
  const known = new Set(some);
  return known.size === new Set(others).size && others.every((ean) => known.has(ean));
}

const eanText = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : jsonNumberText(value);

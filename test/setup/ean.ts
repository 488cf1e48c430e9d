import { randomInt } from 'node:crypto';
import { hasValidCheckDigit } from '../../src/platform/ean-digits.rules.js';
import { roundedForm } from '../../src/users/rounded.rules.js';

/** Returns a random EAN of 18 digits that does not look rounded. Its check digit may be wrong. */
export function newEan(): string {
  const ean = `8716${randomInt(1e7, 1e8)}${randomInt(1e5, 1e6)}`;
  return roundedForm(ean) === undefined ? ean : newEan();
}

/** Returns a random EAN that does not look rounded, and whose check digit is valid. */
export function newValidEan(): string {
  const data = newEan().slice(0, -1);
  const ean = Array.from({ length: 10 }, (_, digit) => `${data}${digit}`).find(hasValidCheckDigit)!;
  return roundedForm(ean) === undefined ? ean : newValidEan();
}

/** Returns a random EAN that does not look rounded, and whose check digit is wrong. */
export function newWrongEan(): string {
  const ean = newEan();
  return hasValidCheckDigit(ean) ? newWrongEan() : ean;
}

import { randomInt } from 'node:crypto';
import { hasValidCheckDigit } from '../../src/users/ean.rules.js';

/**
 * Returns a random EAN of 18 digits. Its check digit may be wrong. It never ends in zeros, because an EAN that ends in zeros looks rounded.
 */
export const newEan = (): string =>
  `8716${randomInt(1e9, 1e10)}${randomInt(1e2, 1e3)}`.replace(/0$/, '1') + randomInt(10);

/** Returns a random EAN whose check digit is valid. */
export const newValidEan = (): string => {
  const data = newEan().slice(0, -1);
  return Array.from({ length: 10 }, (_, digit) => `${data}${digit}`).find(hasValidCheckDigit)!;
};

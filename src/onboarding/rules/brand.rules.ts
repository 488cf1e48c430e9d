import { invisibleFault, lineFault } from '../../users/tenant-reference.rules.js';

export const MAX_BRAND_LENGTH = 100;

/** Returns why `value` is not a valid brand, else undefined. The interface lists no brands, so any name is valid. */
export const brandFault = (value: unknown) =>
  lineFault(value, MAX_BRAND_LENGTH) ?? invisibleFault(value as string);

/**
 * Returns a brand as it is stored and compared: in Unicode's composed form (NFC), with one space for each row of blanks. Otherwise, a
 * location would get a session for each spelling, although nobody sees a difference.
 */
export const normaliseBrand = (text: string): string =>
  text.length > 2 * MAX_BRAND_LENGTH ? text : text.normalize('NFC').replaceAll(/\p{Zs}+/gu, ' ');

import { MAX_BRAND_LENGTH } from '../../platform/spelling.rules.js';
import { invisibleFault, lineFault } from '../../users/tenant-reference.rules.js';

/** Returns why `value` is not a valid brand, else undefined. The interface lists no brands, so any name is valid. */
export const brandFault = (value: unknown) =>
  lineFault(value, MAX_BRAND_LENGTH) ?? invisibleFault(value as string);

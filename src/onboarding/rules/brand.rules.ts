import { MAX_BRAND_LENGTH, visibleLineFault } from '../../platform/spelling.rules.js';

/** Returns why `value` is not a valid brand, else undefined. The interface lists no brands, so any name is valid. */
export const brandFault = (value: unknown) => visibleLineFault(value, MAX_BRAND_LENGTH);

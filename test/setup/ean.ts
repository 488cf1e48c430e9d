import { randomInt } from 'node:crypto';

/** Returns a random EAN of 18 digits. Its check digit may be wrong. */
export const newEan = (): string => `8716${randomInt(1e9, 1e10)}${randomInt(1e3, 1e4)}`;

import { hash, randomBytes } from 'node:crypto';

/**
 * 256 random bits: they cannot be guessed, so a slow hash is not needed. The prefix lets secret scanners recognise a leaked key as ours.
 */
const PREFIX = 'pvo_';
const RANDOM_BYTES = 32;
const API_KEY = /^pvo_[A-Za-z0-9_-]{43}$/;

export function newApiKey(): string {
  return PREFIX + randomBytes(RANDOM_BYTES).toString('base64url');
}

/** Returns whether the text has the form of a key; if not, a look-up in the database is pointless. */
export function isApiKey(text: string): boolean {
  return API_KEY.test(text);
}

/** Returns the SHA-256 of a key, the only part of it that is stored. */
export function hashOf(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

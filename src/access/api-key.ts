import { hash, randomBytes } from 'node:crypto';

/** 256 random bits: neither guessed nor worth hashing slowly. The prefix lets secret scanners know a leaked key for ours. */
const PREFIX = 'pvo_';
const RANDOM_BYTES = 32;
const API_KEY = /^pvo_[A-Za-z0-9_-]{43}$/;

export function newApiKey(): string {
  return PREFIX + randomBytes(RANDOM_BYTES).toString('base64url');
}

/** Whether asking the database about a key makes sense at all. */
export function isApiKey(text: string): boolean {
  return API_KEY.test(text);
}

/** SHA-256: all that is kept of a key. */
export function hashOf(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

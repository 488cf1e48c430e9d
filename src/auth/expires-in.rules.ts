import { parseInstant } from '../platform/time/instant.rules.js';

/**
 * How long a token counts as valid. Interface section 2.2 shows `expires_in` as an ISO 8601 timestamp and describes it as seconds. Every
 * reading that can be distinguished from the others is accepted; all other values are `not_understood`.
 */
export interface TokenLife {
  readonly lifetimeMs: number;
  readonly reading:
    'timestamp' | 'timestamp_without_zone' | 'seconds' | 'epoch_seconds' | 'epoch_ms' | 'not_understood';
}

const DAY_MS = 86_400_000;
/** "A tenant access token is valid for 14 days, or for the period given" (interface section 5.4): never longer. */
const LONGEST_MS = 14 * DAY_MS;
/** With a shorter life, renewals would dominate. If a token expires earlier, a 401 reveals it. */
const SHORTEST_MS = 60_000;
/**
 * For values that are not understood, and for instants in the past, which a new token cannot mean. With 14 days, failing calls would reveal
 * a wrong guess; a quarter of an hour costs 100 token requests a day.
 */
const ASSUMED_MS = 900_000;

/** 10^9 seconds are 31 years as a duration and the year 2001 as an epoch time; 10^11 is the year 5138, or 1973 in milliseconds. */
const SMALLEST_EPOCH_SECONDS = 1e9;
const SMALLEST_EPOCH_MS = 1e11;
const LARGEST_EPOCH_MS = 1e14;

const TIMESTAMP = /^(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)(Z|[+-]\d{2}:?\d{2})?$/i;
const DECIMAL = /^\d+(?:\.\d+)?$/;
/** The easternmost zone: its local time is the earliest instant that a timestamp without a zone can mean. */
const EARLIEST_ZONE = '+14:00';

/** Reads `expires_in`. Never throws; the life is always between 1 minute and 14 days. */
export function readExpiresIn(value: unknown, receivedAt: Date): TokenLife {
  if (typeof value === 'number') return readNumber(value, receivedAt);
  if (typeof value !== 'string') return NOT_UNDERSTOOD;
  const text = value.trim();
  if (DECIMAL.test(text)) return readNumber(Number(text), receivedAt);
  const [, moment, zone] = TIMESTAMP.exec(text) ?? [];
  if (moment === undefined) return NOT_UNDERSTOOD;
  const read = parseInstant(moment.replace(' ', 'T').replace(',', '.') + (zone ?? EARLIEST_ZONE), 'remote');
  if (read.kind === 'none') return NOT_UNDERSTOOD;
  const at = read.kind === 'instant' ? read.at : read.nearest;
  const reading = zone === undefined ? 'timestamp_without_zone' : 'timestamp';
  return life(at.getTime() - receivedAt.getTime(), reading);
}

/** Returns the received value for diagnosis: JSON, at most 100 characters; null if there was none. */
export function rawExpiresIn(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value).slice(0, 100);
}

const NOT_UNDERSTOOD: TokenLife = { lifetimeMs: ASSUMED_MS, reading: 'not_understood' };

function readNumber(value: number, receivedAt: Date): TokenLife {
  if (value >= SMALLEST_EPOCH_MS && value <= LARGEST_EPOCH_MS)
    return life(value - receivedAt.getTime(), 'epoch_ms');
  if (value >= SMALLEST_EPOCH_SECONDS && value < SMALLEST_EPOCH_MS) {
    return life(value * 1_000 - receivedAt.getTime(), 'epoch_seconds');
  }
  return value < SMALLEST_EPOCH_SECONDS ? life(value * 1_000, 'seconds') : NOT_UNDERSTOOD;
}

function life(ms: number, reading: TokenLife['reading']): TokenLife {
  if (!(ms > 0)) return { ...NOT_UNDERSTOOD, reading: Number.isNaN(ms) ? 'not_understood' : reading };
  return { lifetimeMs: Math.round(Math.min(Math.max(ms, SHORTEST_MS), LONGEST_MS)), reading };
}

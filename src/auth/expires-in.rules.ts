import { jsonNumberText } from '../platform/json/lossless.js';
import { parseInstant } from '../platform/time/instant.rules.js';

/** A token's lifetime, and how `expires_in` was interpreted. Interface section 2.2 shows a timestamp but describes seconds. */
export interface TokenLife {
  readonly lifetimeMs: number;
  readonly reading:
    'timestamp' | 'timestamp_without_zone' | 'seconds' | 'epoch_seconds' | 'epoch_ms' | 'not_understood';
}

const DAY_MS = 86_400_000;
/** The longest lifetime. Interface section 5.4: "A tenant access token is valid for 14 days, or for the period given". */
const LONGEST_MS = 14 * DAY_MS;
/** The shortest lifetime, so that a tiny `expires_in` causes at most about one renewal a second. */
const SHORTEST_MS = 1_000;
/** The lifetime if `expires_in` is not understood or in the past. It causes about 100 token requests a day. */
const ASSUMED_MS = 900_000;

/** A smaller number is read as a duration in seconds: a duration of 10^9 seconds would be 31 years. */
const SMALLEST_EPOCH_SECONDS = 1e9;
/** A smaller number is read as seconds since 1970: 10^11 seconds after 1970 is the year 5138. */
const SMALLEST_EPOCH_MS = 1e11;
const LARGEST_EPOCH_MS = 1e14;

const TIMESTAMP = /^(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)(Z|[+-]\d{2}:?\d{2})?$/i;
const DECIMAL = /^\d+(?:\.\d+)?$/;
/** The easternmost zone. A timestamp without a zone is read as the earliest instant that it can mean. */
const EARLIEST_ZONE = '+14:00';

/** Reads `expires_in`. Never throws. The lifetime is always between 1 second and 14 days. */
export function readExpiresIn(value: unknown, receivedAt: Date): TokenLife {
  const number = jsonNumberText(value);
  if (number !== undefined) return readNumber(Number(number), receivedAt);
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

const NOT_UNDERSTOOD: TokenLife = { lifetimeMs: ASSUMED_MS, reading: 'not_understood' };

function readNumber(value: number, receivedAt: Date): TokenLife {
  if (value < SMALLEST_EPOCH_SECONDS) return life(value * 1_000, 'seconds');
  if (value < SMALLEST_EPOCH_MS) return life(value * 1_000 - receivedAt.getTime(), 'epoch_seconds');
  return value <= LARGEST_EPOCH_MS ? life(value - receivedAt.getTime(), 'epoch_ms') : NOT_UNDERSTOOD;
}

const life = (ms: number, reading: TokenLife['reading']): TokenLife => ({
  lifetimeMs: ms > 0 ? Math.round(Math.min(Math.max(ms, SHORTEST_MS), LONGEST_MS)) : ASSUMED_MS,
  reading,
});

/**
 * Valid instants: real calendar days of the years 1 to 9999 in UTC, to the millisecond. RFC 3339, PostgreSQL, Prisma and JavaScript read
 * and write all of these, and differ on others. Second 60 and hour 24 are invalid.
 */
export type InstantReading =
  | { readonly kind: 'instant'; readonly at: Date }
  /** A real instant outside the valid range, and the nearest valid one. */
  | { readonly kind: 'outside'; readonly nearest: Date }
  | { readonly kind: 'none' };

/** `remote`: ISO 8601 as the remote service may write it, also without seconds, and with an offset without a colon. */
export type InstantForm = 'rfc3339' | 'remote';

const REMOTE = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:Z|([+-])(\d\d):?(\d\d))$/i;
/** The requirements of RFC 3339 beyond REMOTE. */
const WITH_SECONDS_AND_COLONS = /T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

const NONE: InstantReading = { kind: 'none' };
const MINUTE_MS = 60_000;
/** The calendar repeats after 400 years. Date.UTC gets a later cycle, because it reads the years 0 to 99 as 1900 to 1999. */
const CYCLE_YEARS = 400;
const CYCLE_MS = 146_097 * 24 * 60 * MINUTE_MS;
const FIRST_MS = Date.UTC(1 + CYCLE_YEARS, 0) - CYCLE_MS;
const LAST_MS = Date.UTC(10_000, 0) - 1;

/** Reads the text of an instant; truncates a fraction to milliseconds. */
export function parseInstant(value: unknown, form: InstantForm = 'rfc3339'): InstantReading {
  const parts = typeof value === 'string' ? REMOTE.exec(value) : null;
  if (parts === null || (form === 'rfc3339' && !WITH_SECONDS_AND_COLONS.test(parts[0]))) return NONE;
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '00', fraction = ''] = parts;
  const [sign = '+', offsetHour = '00', offsetMinute = '00'] = parts.slice(8);
  const isReal =
    isDay(Number(year), Number(month), Number(day)) &&
    isTime(hour, minute, second) &&
    isTime(offsetHour, offsetMinute, '00');
  if (!isReal) return NONE;

  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const local = Date.UTC(
    Number(year) + CYCLE_YEARS,
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
    milliseconds,
  );
  const offsetMs = Number(`${sign}1`) * (Number(offsetHour) * 60 + Number(offsetMinute)) * MINUTE_MS;
  const ms = local - CYCLE_MS - offsetMs;
  const nearest = nearestInstant(ms);
  return nearest.getTime() === ms ? { kind: 'instant', at: nearest } : { kind: 'outside', nearest };
}

/** Returns the instant of these milliseconds since 1970; the first or the last valid one if they lie outside. */
export const nearestInstant = (ms: number): Date => new Date(Math.min(Math.max(ms, FIRST_MS), LAST_MS));

function isDay(year: number, month: number, day: number): boolean {
  const daysOfMonth = new Date(Date.UTC(year + CYCLE_YEARS, month, 0)).getUTCDate();
  return month >= 1 && month <= 12 && day >= 1 && day <= daysOfMonth;
}

const isTime = (hour: string, minute: string, second: string): boolean =>
  hour < '24' && minute < '60' && second < '60';

/** The years 1 to 9999 UTC are valid: RFC 3339, PostgreSQL, Prisma and JavaScript agree on them. Second 60 and hour 24 are invalid. */
export type InstantReading =
  | { readonly kind: 'instant'; readonly at: Date }
  /** A real instant outside the valid range, and the nearest valid one. */
  | { readonly kind: 'outside'; readonly nearest: Date }
  | { readonly kind: 'none' };

const REMOTE =
  /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:Z|([+-])([01]\d|2[0-3]):?([0-5]\d))$/i;
/** RFC 3339 requires the seconds and the colon of the offset, which REMOTE makes optional. */
const WITH_SECONDS_AND_COLONS = /T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

const NONE: InstantReading = { kind: 'none' };
const MINUTE_MS = 60_000;
const FIRST_MS = Date.parse('0001-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** Parses an instant, truncated to milliseconds. The form `remote` also allows omitting the seconds, and the colon of the offset. */
export function parseInstant(value: unknown, form: 'rfc3339' | 'remote' = 'rfc3339'): InstantReading {
  const parts = typeof value === 'string' ? REMOTE.exec(value) : null;
  if (parts === null || (form === 'rfc3339' && !WITH_SECONDS_AND_COLONS.test(parts[0]))) return NONE;
  const [, day, minute, second = '00', fraction = '', sign = '+', ...offset] = parts;
  const local = `${day}T${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
  const localMs = Date.parse(local);
  // Date.parse reads February 30 as March 2, and hour 24 as the next day.
  if (Number.isNaN(localMs) || new Date(localMs).toISOString() !== local) return NONE;
  const [hours = 0, minutes = 0] = offset.map((digits: string | undefined) => Number(digits ?? 0));
  const ms = localMs - Number(`${sign}1`) * (hours * 60 + minutes) * MINUTE_MS;
  const nearest = nearestInstant(ms);
  return nearest.getTime() === ms ? { kind: 'instant', at: nearest } : { kind: 'outside', nearest };
}

/** Returns the instant of a text, or the text if it is not one, so that validation refuses it. */
export function readInstant(text: string): Date | string {
  const read = parseInstant(text);
  return read.kind === 'instant' ? read.at : text;
}

/** Returns the instant of these milliseconds since 1970. Outside the valid range, returns the first or the last valid instant. */
export const nearestInstant = (ms: number): Date => new Date(Math.min(Math.max(ms, FIRST_MS), LAST_MS));

const MAX_DAYS = 366;

/** Returns why a person cannot postpone something until this instant, else undefined. */
export function upcomingFault(at: Date, now: Date): string | undefined {
  const inMs = at.getTime() - now.getTime();
  if (inMs <= 0) return 'must be in the future';
  return inMs > MAX_DAYS * 1_440 * MINUTE_MS ? `must be at most ${MAX_DAYS} days from now` : undefined;
}

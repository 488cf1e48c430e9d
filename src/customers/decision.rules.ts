/**
 * Who must act next. If several brands or locations wait, the first value in this list counts.
 * - `tenant`: a person of the tenant must decide or repair something.
 * - `remote_service`: a call is in flight or is repeated by itself.
 * - `invitation`: the owner has no valid link.
 * - `owner`: the owner has a link, and has not finished the web flow.
 * - `installation`: the owner has finished, and inverters are awaited.
 * - `nobody`: everything that is expected is online.
 */
export const WAITS_FOR = [
  'tenant',
  'remote_service',
  'invitation',
  'owner',
  'installation',
  'nobody',
] as const;
export type WaitsFor = (typeof WAITS_FOR)[number];

export interface Decision {
  readonly waitsFor: WaitsFor;
  /** The reason, in one sentence. */
  readonly why: string;
  /** One sentence that says what happens or what to do next. */
  readonly next: string;
}

export const decision = (waitsFor: WaitsFor, why: string, next: string): Decision => ({
  waitsFor,
  why,
  next,
});

export const mostUrgent = <T extends Decision>(decisions: readonly T[]): T | undefined =>
  decisions.toSorted((one, other) => WAITS_FOR.indexOf(one.waitsFor) - WAITS_FOR.indexOf(other.waitsFor))[0];

const UNITS = [
  ['day', 1_440],
  ['hour', 60],
  ['minute', 1],
] as const;

/** Returns how long before `now` an instant was, such as `3 days ago`. */
export const ago = (at: Date, now: Date): string => `${lasting(now.getTime() - at.getTime())} ago`;

/** Returns a duration in its largest unit, such as `3 days`. */
export function lasting(ms: number, round = Math.floor): string {
  const minutes = ms / 60_000;
  const [unit, size] = UNITS.find(([, least]) => minutes >= least) ?? [];
  return size === undefined ? 'less than a minute' : counted(round(minutes / size), unit);
}

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

import { randomBytes, randomUUID } from 'node:crypto';

/** A response that the interface does not describe, as it was seen (section 7). */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The conditions under which the interface describes no response. */
export const CONDITIONS = [
  'no_key',
  'wrong_key',
  'no_token',
  'wrong_secret',
  'unknown_id',
  'unserved_path',
] as const;
export type Condition = (typeof CONDITIONS)[number];

const OPERATIONS = ['probe', 'token', 'register_user', 'start_session', 'read_session'] as const;

/** How timestamps are written. */
export interface TimeForm {
  readonly fractionDigits: number;
  readonly zone: 'Z' | 'offset' | 'none';
}

/** A difference of a response from the interface, in the name or the type of a field. */
export interface Difference {
  readonly kind: 'new_field' | 'missing_field' | 'other_type';
  readonly field: string;
  readonly found: string | null;
}

interface Shape {
  readonly status: number;
  readonly times: TimeForm | null;
  readonly differences: readonly Difference[];
}

const EXPIRES_IN = [
  'timestamp',
  'timestamp_without_zone',
  'seconds',
  'epoch_seconds',
  'epoch_ms',
  'absent',
] as const;

export interface TokenForm {
  readonly isJwt: boolean;
  readonly length: number;
  /** When a JWT says that it ends. */
  readonly lifetimeSeconds: number | null;
}

/** How a service behaves where the interface is silent or ambiguous: what `check-remote --record` has written. */
export interface Habits {
  /** Headers of every successful response. */
  readonly headers: Readonly<Record<string, string>>;
  readonly latencyMs: Readonly<Partial<Record<(typeof OPERATIONS)[number], number>>>;
  readonly probe: Refusal | null;
  readonly token: {
    readonly status: number;
    readonly form: TokenForm | null;
    readonly expiresIn: (typeof EXPIRES_IN)[number];
    /** Whether a number is sent as a string. */
    readonly asText: boolean;
    readonly lifetimeSeconds: number;
    readonly tokenType: string | null;
    /** Whether a new token ends the earlier ones. */
    readonly endsEarlier: boolean;
  };
  readonly refusals: Readonly<Partial<Record<Condition, Refusal>>>;
  readonly sessionPath: 'both' | 'onboarding' | 'user';
  readonly user: Shape | null;
  readonly start: (Shape & { readonly lifetimeSeconds: number | null }) | null;
  readonly read: Shape | null;
}

export class BadRecording extends Error {
  readonly statusCode = 400;
}

const FORMAT = 'solar-curtailment-service';
const VERSION = 1;
const MOST_BYTES = 256 * 1024;
const MOST_BODY = 4_096;
const MOST_LATENCY_MS = 30_000;
const MOST_LIFETIME_SECONDS = 10 * 366 * 86_400;
/** The headers that a recording may set. Others, such as content-length, would break the response. */
const HEADERS =
  /^(content-type|cache-control|retry-after|www-authenticate|allow|(x-)?ratelimit-[a-z-]{1,40})$/;
const FIELD = /^(?:(?:gridLocations|inverters)\[\]\.)?[A-Za-z_$][\w$-]{0,39}$/;
const FOUND = ['string', 'another string', 'number', 'boolean', 'null', 'object', 'array'] as const;

/** Reads a recording. Throws BadRecording, which names the field and what is expected. */
export function readRecording(text: string): Habits {
  if (Buffer.byteLength(text) > MOST_BYTES) fail(`it is larger than ${MOST_BYTES} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return fail('it is not JSON: it may be damaged');
  }
  const file = object('the file', value);
  if (file.recording !== FORMAT) fail(`recording must be "${FORMAT}": this is not a file of check-remote`);
  if (typeof file.version === 'number' && file.version > VERSION)
    fail(`version ${file.version} is newer than ${VERSION}, which this release reads`);
  if (file.version !== VERSION) fail(`version must be ${VERSION}`);
  onlyKnown('', file, [
    ...['recording', 'version', 'recordedAt', 'headers', 'latencyMs', 'probe', 'token', 'refusals'],
    ...['sessionPath', 'user', 'start', 'read'],
  ]);
  const token = object('token', file.token);
  onlyKnown('token.', token, [
    ...['status', 'form', 'expiresIn', 'asText', 'lifetimeSeconds', 'tokenType', 'endsEarlier'],
  ]);
  const latencies = object('latencyMs', file.latencyMs);
  onlyKnown('latencyMs.', latencies, OPERATIONS);
  const refusals = object('refusals', file.refusals);
  onlyKnown('refusals.', refusals, CONDITIONS);
  return {
    headers: headersOf('headers', file.headers),
    latencyMs: Object.fromEntries(
      Object.entries(latencies).map(([name, ms]) => [
        name,
        whole(`latencyMs.${name}`, ms, 0, MOST_LATENCY_MS),
      ]),
    ),
    probe: orNull('probe', file.probe, refusalOf),
    token: {
      status: whole('token.status', token.status, 200, 299),
      form: orNull('token.form', token.form, tokenFormOf),
      expiresIn: oneOf('token.expiresIn', token.expiresIn, EXPIRES_IN),
      asText: flag('token.asText', token.asText),
      lifetimeSeconds: whole('token.lifetimeSeconds', token.lifetimeSeconds, 1, MOST_LIFETIME_SECONDS),
      tokenType: orNull('token.tokenType', token.tokenType, (name, type) => string(name, type, 100)),
      endsEarlier: flag('token.endsEarlier', token.endsEarlier),
    },
    refusals: Object.fromEntries(
      Object.entries(refusals).map(([name, refusal]) => [name, refusalOf(`refusals.${name}`, refusal)]),
    ),
    sessionPath: oneOf('sessionPath', file.sessionPath, ['both', 'onboarding', 'user'] as const),
    user: orNull('user', file.user, (name, shape) => shapeOf(name, shape)),
    start: orNull('start', file.start, (name, value) => {
      const { lifetimeSeconds } = object(name, value);
      const seconds = orNull(`${name}.lifetimeSeconds`, lifetimeSeconds, (field, number) =>
        whole(field, number, 1, MOST_LIFETIME_SECONDS),
      );
      return { ...shapeOf(name, value, ['lifetimeSeconds']), lifetimeSeconds: seconds };
    }),
    read: orNull('read', file.read, (name, shape) => shapeOf(name, shape)),
  };
}

function refusalOf(name: string, value: unknown): Refusal {
  const refusal = object(name, value);
  onlyKnown(`${name}.`, refusal, ['status', 'headers', 'body']);
  return {
    status: whole(`${name}.status`, refusal.status, 200, 599),
    headers: headersOf(`${name}.headers`, refusal.headers),
    body: string(`${name}.body`, refusal.body, MOST_BODY),
  };
}

function tokenFormOf(name: string, value: unknown): TokenForm {
  const form = object(name, value);
  onlyKnown(`${name}.`, form, ['isJwt', 'length', 'lifetimeSeconds']);
  const seconds = orNull(`${name}.lifetimeSeconds`, form.lifetimeSeconds, (field, number) =>
    whole(field, number, 1, MOST_LIFETIME_SECONDS),
  );
  const isJwt = flag(`${name}.isJwt`, form.isJwt);
  return { isJwt, length: whole(`${name}.length`, form.length, 6, 8_000), lifetimeSeconds: seconds };
}

function shapeOf(name: string, value: unknown, more: readonly string[] = []): Shape {
  const shape = object(name, value);
  onlyKnown(`${name}.`, shape, ['status', 'times', 'differences', ...more]);
  const { differences } = shape;
  if (!Array.isArray(differences) || differences.length > 50)
    return fail(`${name}.differences must be an array of at most 50`);
  return {
    status: whole(`${name}.status`, shape.status, 200, 299),
    times: orNull(`${name}.times`, shape.times, (field, form) => {
      const times = object(field, form);
      onlyKnown(`${field}.`, times, ['fractionDigits', 'zone']);
      return {
        fractionDigits: whole(`${field}.fractionDigits`, times.fractionDigits, 0, 9),
        zone: oneOf(`${field}.zone`, times.zone, ['Z', 'offset', 'none'] as const),
      };
    }),
    differences: differences.map((item: unknown, index) => {
      const field = `${name}.differences[${index}]`;
      const difference = object(field, item);
      onlyKnown(`${field}.`, difference, ['kind', 'field', 'found']);
      const path = string(`${field}.field`, difference.field, 80);
      if (!FIELD.test(path) || path.endsWith('__proto__')) fail(`${field}.field must be the name of a field`);
      return {
        kind: oneOf(`${field}.kind`, difference.kind, ['new_field', 'missing_field', 'other_type'] as const),
        field: path,
        found: orNull(`${field}.found`, difference.found, (at, found) => oneOf(at, found, FOUND)),
      };
    }),
  };
}

function headersOf(name: string, value: unknown): Record<string, string> {
  const headers = object(name, value);
  for (const [header, text] of Object.entries(headers)) {
    if (!HEADERS.test(header))
      fail(`${name}.${header.slice(0, 40)} is not a header that a recording may set`);
    if (!/^[\x20-\x7e]{0,500}$/.test(string(`${name}.${header}`, text, 500)))
      fail(`${name}.${header} must be visible ASCII characters`);
  }
  return headers as Record<string, string>;
}

function fail(reason: string): never {
  throw new BadRecording(`The recording cannot be used: ${reason}.`);
}

function onlyKnown(prefix: string, value: object, known: readonly string[]): void {
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) fail(`${prefix}${unknown.slice(0, 40)} is not known`);
}

function object(name: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  return fail(`${name} must be an object`);
}

function whole(name: string, value: unknown, least: number, most: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  return fail(`${name} must be a whole number from ${least} to ${most}`);
}

function string(name: string, value: unknown, most: number): string {
  if (typeof value === 'string' && value.length <= most) return value;
  return fail(`${name} must be a string of at most ${most} characters`);
}

function flag(name: string, value: unknown): boolean {
  return typeof value === 'boolean' ? value : fail(`${name} must be true or false`);
}

function oneOf<T extends string>(name: string, value: unknown, values: readonly T[]): T {
  return values.find((each) => each === value) ?? fail(`${name} must be one of ${values.join(', ')}`);
}

const orNull = <T>(name: string, value: unknown, read: (name: string, value: unknown) => T): T | null =>
  value === null || value === undefined ? null : read(name, value);

/** Writes an instant in a form. The digits beyond milliseconds are zeros. */
export function timestampOf(at: number, { fractionDigits, zone }: TimeForm): string {
  const iso = new Date(at).toISOString();
  const fraction = iso.slice(20, 23).padEnd(9, '0').slice(0, fractionDigits);
  const end = zone === 'Z' ? 'Z' : zone === 'offset' ? '+00:00' : '';
  return `${iso.slice(0, 19)}${fraction && `.${fraction}`}${end}`;
}

/** Returns a new token in a form. A JWT is longer than a short `length`. */
export function newToken({ isJwt, length, lifetimeSeconds }: TokenForm, now: number): string {
  const exp = lifetimeSeconds === null ? undefined : Math.round(now / 1_000) + lifetimeSeconds;
  const parts = isJwt
    ? [
        { alg: 'RS256', typ: 'JWT' },
        { jti: randomUUID(), exp },
      ]
    : [];
  const start = parts.map((part) => `${Buffer.from(JSON.stringify(part)).toString('base64url')}.`).join('');
  return (
    start +
    randomBytes(length)
      .toString('base64url')
      .slice(0, Math.max(6, length - start.length))
  );
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const SAMPLES: Readonly<Record<string, (before: unknown) => unknown>> = {
  string: (before) => (before === undefined ? 'text' : asText(before)),
  'another string': (before) => asText(before).replaceAll('-', ''),
  number: () => 1,
  boolean: () => true,
  null: () => null,
  object: () => ({}),
  array: () => [],
};

/** Makes a response differ from the interface. A field of a list differs in each of its elements. */
export function applyDifferences(
  fields: Record<string, unknown>,
  differences: readonly Difference[],
): Record<string, unknown> {
  const changed = structuredClone(fields);
  for (const { kind, field, found } of differences) {
    const [list, name] = field.includes('[].') ? field.split('[].') : [null, field];
    const elements = list === null ? [changed] : changed[list];
    for (const target of Array.isArray(elements) ? (elements as Record<string, unknown>[]) : []) {
      if (kind === 'missing_field') delete target[name];
      else target[name] = SAMPLES[found ?? 'string']!(target[name]);
    }
  }
  return changed;
}

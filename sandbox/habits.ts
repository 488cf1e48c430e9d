import { randomBytes, randomUUID } from 'node:crypto';

const FORMAT = 'solar-curtailment-service';
const VERSION = 1;
const MOST_BYTES = 256 * 1024;
const MOST_LIFETIME_SECONDS = 10 * 366 * 86_400;
/** The headers that a recording may set. Others, such as content-length, would break the response. */
const HEADERS =
  /^(content-type|cache-control|retry-after|www-authenticate|allow|(x-)?ratelimit-[a-z-]{1,40})$/;
const FIELD = /^(?:(?:gridLocations|inverters)\[\]\.)?[A-Za-z_$][\w$-]{0,39}$/;
const OPERATIONS = ['probe', 'token', 'register_user', 'start_session', 'read_session'] as const;
/** The conditions under which the interface describes no response. */
const CONDITIONS = [
  'no_key',
  'wrong_key',
  'no_token',
  'wrong_secret',
  'unknown_id',
  'unserved_path',
] as const;
export type Condition = (typeof CONDITIONS)[number];

export class BadRecording extends Error {
  readonly statusCode = 400;
}

function fail(reason: string): never {
  throw new BadRecording(`The recording cannot be used: ${reason}.`);
}

/** Reads a part of a recording. Throws BadRecording, which calls the part `name`, and says what is expected. */
type Read<T> = (value: unknown, name: string) => T;

/** The value that a part is read as. */
type Part<R> = R extends Read<infer T> ? T : never;

const anything: Read<unknown> = (value) => value;

const flag: Read<boolean> = (value, name) =>
  typeof value === 'boolean' ? value : fail(`${name} must be true or false`);

const whole =
  (least: number, most: number): Read<number> =>
  (value, name) =>
    typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most
      ? value
      : fail(`${name} must be a whole number from ${least} to ${most}`);

const text =
  (most: number): Read<string> =>
  (value, name) =>
    typeof value === 'string' && value.length <= most
      ? value
      : fail(`${name} must be a string of at most ${most} characters`);

const oneOf =
  <T extends string>(...values: readonly T[]): Read<T> =>
  (value, name) =>
    values.find((each) => each === value) ?? fail(`${name} must be one of ${values.join(', ')}`);

const orNull =
  <T>(read: Read<T>): Read<T | null> =>
  (value, name) =>
    value === null || value === undefined ? null : read(value, name);

const listOf =
  <T>(read: Read<T>, most: number): Read<readonly T[]> =>
  (value, name) =>
    Array.isArray(value) && value.length <= most
      ? value.map((each, index) => read(each, `${name}[${index}]`))
      : fail(`${name} must be an array of at most ${most}`);

/** Reads an object with these fields, and no others. */
const object =
  <F extends Readonly<Record<string, Read<unknown>>>>(
    fields: F,
  ): Read<{ readonly [N in keyof F]: Part<F[N]> }> =>
  (value, name) => {
    const given = recordOf(value, name);
    const at = (field: string) => (name === '' ? field : `${name}.${field}`);
    const read = Object.entries(fields).map(([field, of]) => [field, of(given[field], at(field))]);
    const unknown = Object.keys(given).find((field) => !Object.hasOwn(fields, field));
    if (unknown !== undefined) fail(`${at(unknown.slice(0, 40))} is not known`);
    return Object.fromEntries(read) as { readonly [N in keyof F]: Part<F[N]> };
  };

/** Reads an object that has some of these fields. */
const someOf = <N extends string, T>(names: readonly N[], read: Read<T>) =>
  object(Object.fromEntries(names.map((name) => [name, orNull(read)])) as Record<N, Read<T | null>>);

function recordOf(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  return fail(`${name || 'the file'} must be an object`);
}

const headers: Read<Readonly<Record<string, string>>> = (value, name) => {
  const given = recordOf(value, name);
  for (const [header, content] of Object.entries(given)) {
    if (!HEADERS.test(header))
      fail(`${name}.${header.slice(0, 40)} is not a header that a recording may set`);
    if (!/^[\x20-\x7e]*$/.test(text(500)(content, `${name}.${header}`)))
      fail(`${name}.${header} must be visible ASCII characters`);
  }
  return given as Readonly<Record<string, string>>;
};

const fieldName: Read<string> = (value, name) => {
  const path = text(80)(value, name);
  return FIELD.test(path) && !path.endsWith('__proto__') ? path : fail(`${name} must be the name of a field`);
};

const lifetimeSeconds = whole(1, MOST_LIFETIME_SECONDS);

/** A response that the interface does not describe, as it was seen (section 7). */
const refusal = object({ status: whole(200, 599), headers, body: text(4_096) });

/** How timestamps are written. */
const timeForm = object({ fractionDigits: whole(0, 9), zone: oneOf('Z', 'offset', 'none') });

/** A difference of a response from the interface, in the name or the type of a field. */
const difference = object({
  kind: oneOf('new_field', 'missing_field', 'other_type'),
  field: fieldName,
  found: orNull(oneOf('string', 'another string', 'number', 'boolean', 'null', 'object', 'array')),
});

const SHAPE = { status: whole(200, 299), times: orNull(timeForm), differences: listOf(difference, 50) };

/** `lifetimeSeconds`: when a JWT says that it ends. */
const tokenForm = object({ isJwt: flag, length: whole(6, 8_000), lifetimeSeconds: orNull(lifetimeSeconds) });

const RECORDING = object({
  recording: (value) =>
    value === FORMAT ? value : fail(`recording must be "${FORMAT}": this is not a file of check-remote`),
  version: (value) => {
    if (typeof value === 'number' && value > VERSION)
      fail(`version ${value} is newer than ${VERSION}, which this release reads`);
    return value === VERSION ? value : fail(`version must be ${VERSION}`);
  },
  recordedAt: anything,
  /** Of every successful response. */
  headers,
  latencyMs: someOf(OPERATIONS, whole(0, 30_000)),
  probe: orNull(refusal),
  token: object({
    status: whole(200, 299),
    form: orNull(tokenForm),
    expiresIn: oneOf('timestamp', 'timestamp_without_zone', 'seconds', 'epoch_seconds', 'epoch_ms', 'absent'),
    /** Whether a number is sent as a string. */
    asText: flag,
    lifetimeSeconds,
    tokenType: orNull(text(100)),
    /** Whether a new token ends the earlier ones. */
    endsEarlier: flag,
  }),
  refusals: someOf(CONDITIONS, refusal),
  sessionPath: oneOf('both', 'onboarding', 'user'),
  user: orNull(object(SHAPE)),
  start: orNull(object({ ...SHAPE, lifetimeSeconds: orNull(lifetimeSeconds) })),
  read: orNull(object(SHAPE)),
});

/** How a service behaves where the interface is silent or ambiguous: what `check-remote --record` has written. */
export type Habits = Part<typeof RECORDING>;

/** Reads a recording. Throws BadRecording, which names the field and what is expected. */
export function readRecording(file: string): Habits {
  if (Buffer.byteLength(file) > MOST_BYTES) fail(`it is larger than ${MOST_BYTES} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(file);
  } catch {
    return fail('it is not JSON: it may be damaged');
  }
  return RECORDING(value, '');
}

/** Writes an instant in a form. The digits beyond milliseconds are zeros. */
export function timestampOf(at: number, { fractionDigits, zone }: Part<typeof timeForm>): string {
  const iso = new Date(at).toISOString();
  const fraction = iso.slice(20, 23).padEnd(9, '0').slice(0, fractionDigits);
  const end = zone === 'Z' ? 'Z' : zone === 'offset' ? '+00:00' : '';
  return `${iso.slice(0, 19)}${fraction && `.${fraction}`}${end}`;
}

/** Returns a new token in a form. A JWT is longer than a short `length`. */
export function newToken({ isJwt, length, lifetimeSeconds }: Part<typeof tokenForm>, now: number): string {
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
  differences: readonly Part<typeof difference>[],
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

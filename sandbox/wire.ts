import { randomUUID } from 'node:crypto';
import { applyDifferences, timestampOf, type Habits } from './habits.js';
import type { Session } from './session.js';
import type { Registration, User } from './state.js';

/** A response whose body is already serialised. */
export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

export const json = (status: number, body: string): WireResponse => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body,
});

/** Returns an error response. The interface describes none (section 7): status and body are the sandbox's own choice. */
export const refusal = (status: number, message: string): WireResponse =>
  json(status, JSON.stringify({ message }));

/** Formats an instant as in section 2.3: UTC with `Z` and fractional seconds. */
export const userTimestamp = (at: number): string => new Date(at).toISOString();

/** Formats an instant as in section 2.5: a numeric offset and no fractional seconds, such as 2026-11-20T23:10:00+00:00. */
export const sessionTimestamp = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}+00:00`;

/** `token`: the habits of a recorded service. */
export const tokenResponse = (
  accessToken: string,
  expiresIn: unknown,
  token?: Habits['token'],
): WireResponse => {
  const tokenType = token === undefined ? 'pvcurtailment' : (token.tokenType ?? undefined);
  const fields = { access_token: accessToken, expires_in: expiresIn, token_type: tokenType };
  return json(token?.status ?? 200, JSON.stringify(fields));
};

/** Returns `expires_in` in the form of a recorded service. */
export const expiresInOf = (token: Habits['token'], now: number, expiresAt: number): unknown => {
  const text = (value: number) => (token.asText ? String(value) : value);
  switch (token.expiresIn) {
    case 'timestamp':
      return userTimestamp(expiresAt);
    case 'timestamp_without_zone':
      return userTimestamp(expiresAt).slice(0, -1);
    case 'seconds':
      return text(Math.round((expiresAt - now) / 1_000));
    case 'epoch_seconds':
      return text(Math.floor(expiresAt / 1_000));
    case 'epoch_ms':
      return text(expiresAt);
    case 'absent':
      return undefined;
  }
};

type Shape = Pick<NonNullable<Habits['user']>, 'status' | 'times' | 'differences'>;

/** Returns a response in the shape of a recorded service. */
const shaped = (fields: Record<string, unknown>, shape: Shape | null = null): WireResponse => {
  const changed = shape === null ? fields : applyDifferences(fields, shape.differences);
  const isOther = shape?.differences.some(({ field }) => field === 'gridLocations[].ean') ?? false;
  const body = JSON.stringify(changed);
  return json(shape?.status ?? 200, isOther ? body : body.replace(EAN_AS_TEXT, '"ean":$1'));
};

/** Matches the EAN of a grid location. In the text of a string, each quote follows a backslash. */
const EAN_AS_TEXT = /"ean":"(\d{18})"/g;

// `shaped` writes the text of an EAN as a JSON number. Converting it to a JavaScript number would change its last digits.
export const userResponse = (
  { createdAt, ...user }: User,
  tenantName: string,
  shape?: Habits['user'],
): WireResponse => {
  const timestamp = shape?.times ? timestampOf(createdAt, shape.times) : userTimestamp(createdAt);
  const fields = {
    id: user.id,
    firstName: '',
    lastName: '',
    email: '',
    tenantName,
    tenantReference: user.tenantReference,
    createdAt: timestamp,
    updatedAt: timestamp,
    gridLocations: user.gridLocations.map(({ id, ean }) => ({ id, ean })),
  };
  return shaped(fields, shape);
};

/** Returns the response of section 4.3, the only one with `startUrl`. It has neither `expired` nor `inverters`. */
export const startResponse = (
  session: Session,
  onboardingUrl: string,
  shape?: Habits['start'],
): WireResponse =>
  shaped(
    {
      sessionId: session.sessionId,
      finished: session.finished,
      active: session.active,
      startUrl: `${onboardingUrl}/pv-onboarding/${session.linkToken}`,
      ...timesOf(session, shape),
    },
    shape,
  );

const timesOf = ({ createdAt, updatedAt, expiresAt }: Session, shape: Shape | null = null) => {
  const times = shape?.times;
  const write = (at: number) => (times ? timestampOf(at, times) : sessionTimestamp(at));
  return { createdAt: write(createdAt), updatedAt: write(updatedAt), expiresAt: write(expiresAt) };
};

/** Returns the response of section 4.4, with the fields that the control API overrides. */
export const sessionResponse = (session: Session, shape?: Habits['read']): WireResponse => {
  const fields: Record<string, unknown> = {
    sessionId: session.sessionId,
    finished: session.finished,
    active: session.active,
    expired: session.expired,
    ...timesOf(session, shape),
    inverters: session.inverters.map((id) => ({ id })),
  };
  if (session.override) {
    Object.assign(fields, session.override.set);
    for (const name of session.override.absent) delete fields[name];
  }
  return shaped(fields, shape);
};

/** The key under which `parseKeepingDigits` wraps a number. It is random, so that no request body can contain it. */
const NUMBER_KEY = `number-${randomUUID()}`;

/** Reads the body of section 4.2, and keeps all digits of its EANs. Returns an error message if the body is invalid. */
export const readRegistration = (text: string): Registration | string => {
  const body = parseKeepingDigits(text);
  if (!isObject(body)) return 'the body must be a JSON object';
  if (typeof body.tenantReference !== 'string' || body.tenantReference === '') {
    return 'tenantReference must be a string that is not empty';
  }
  if (!Array.isArray(body.gridLocations)) return 'gridLocations must be an array';
  const eans: string[] = [];
  for (const location of body.gridLocations) {
    const digits = isObject(location) && isObject(location.ean) ? location.ean[NUMBER_KEY] : undefined;
    if (typeof digits !== 'string' || !/^[1-9]\d{17}$/.test(digits)) {
      return 'each grid location must have an ean that is a number of 18 digits';
    }
    eans.push(digits);
  }
  return { tenantReference: body.tenantReference, eans };
};

/** Parses JSON, but replaces each number by `{ [NUMBER_KEY]: text }`. Returns undefined if the text is not JSON. */
const parseKeepingDigits = (text: string): unknown => {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const wrapped = text.replace(/"(?:[^"\\]|\\.)*"?|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? token : `{"${NUMBER_KEY}":"${token}"}`,
  );
  return JSON.parse(wrapped);
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

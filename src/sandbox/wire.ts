import { randomUUID } from 'node:crypto';
import type { Session } from './session.js';
import type { Registration, User } from './state.js';

/** A response to the client, always built as text here, so that no byte depends on a serialiser. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

export const json = (status: number, body: string): Answer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body,
});

/** Returns an error. The interface does not show errors (section 7): the statuses and this body are the sandbox's own choice. */
export const refusal = (status: number, message: string): Answer => json(status, JSON.stringify({ message }));

/** Section 2.3: UTC, `Z`, fractional seconds. */
export const userTimestamp = (at: number): string => new Date(at).toISOString();

/** Section 2.5: a numeric offset and no fractional seconds, such as 2026-11-20T23:10:00+00:00. */
export const sessionTimestamp = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}+00:00`;

export const tokenAnswer = (accessToken: string, expiresIn: unknown): Answer =>
  json(
    200,
    JSON.stringify({ access_token: accessToken, expires_in: expiresIn, token_type: 'pvcurtailment' }),
  );

/** Writes the EAN, stored as text, as a bare number: a JavaScript number would change its last digits. */
const gridLocation = (location: User['gridLocations'][number]): string =>
  `{"id":"${location.id}","ean":${location.ean}}`;

export const userAnswer = (user: User, tenantName: string): Answer => {
  const timestamp = userTimestamp(user.createdAt);
  const fields = {
    id: user.id,
    firstName: '',
    lastName: '',
    email: '',
    tenantName,
    tenantReference: user.tenantReference,
    createdAt: timestamp,
    updatedAt: timestamp,
  };
  const locations = user.gridLocations.map(gridLocation).join(',');
  return json(200, `${JSON.stringify(fields).slice(0, -1)},"gridLocations":[${locations}]}`);
};

/** Section 4.3: only this response has `startUrl`; it has neither `expired` nor `inverters`. */
export const startAnswer = (session: Session, onboardingUrl: string): Answer =>
  json(
    200,
    JSON.stringify({
      sessionId: session.sessionId,
      finished: session.finished,
      active: session.active,
      startUrl: `${onboardingUrl}/pv-onboarding/${session.linkToken}`,
      createdAt: sessionTimestamp(session.createdAt),
      updatedAt: sessionTimestamp(session.updatedAt),
      expiresAt: sessionTimestamp(session.expiresAt),
    }),
  );

/** Section 4.4. Fields overridden through the control API are returned verbatim. */
export const readAnswer = (session: Session): Answer => {
  const fields: Record<string, unknown> = {
    sessionId: session.sessionId,
    finished: session.finished,
    active: session.active,
    expired: session.expired,
    createdAt: sessionTimestamp(session.createdAt),
    updatedAt: sessionTimestamp(session.updatedAt),
    expiresAt: sessionTimestamp(session.expiresAt),
    inverters: session.inverters.map((id) => ({ id })),
  };
  if (session.override) {
    Object.assign(fields, session.override.set);
    for (const name of session.override.absent) delete fields[name];
  }
  return json(200, JSON.stringify(fields));
};

/** Unguessable, so that a request cannot disguise an object as a number. */
const NUMBER_KEY = `number-${randomUUID()}`;

/**
 * Reads the body of section 4.2 without losing a digit: checks that the text is JSON, then wraps every number outside a string as text
 * before it is parsed. Returns a sentence describing the fault if the body is invalid.
 */
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

const parseKeepingDigits = (text: string): unknown => {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const wrapped = text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? token : `{"${NUMBER_KEY}":"${token}"}`,
  );
  return JSON.parse(wrapped);
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

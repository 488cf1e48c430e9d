import { randomUUID } from 'node:crypto';
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

export const tokenResponse = (accessToken: string, expiresIn: unknown): WireResponse =>
  json(
    200,
    JSON.stringify({ access_token: accessToken, expires_in: expiresIn, token_type: 'pvcurtailment' }),
  );

/** Writes the text of the EAN as a JSON number. Converting it to a JavaScript number would change its last digits. */
const gridLocation = (location: User['gridLocations'][number]): string =>
  `{"id":"${location.id}","ean":${location.ean}}`;

export const userResponse = (user: User, tenantName: string): WireResponse => {
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

/** Returns the response of section 4.3, the only one with `startUrl`. It has neither `expired` nor `inverters`. */
export const startResponse = (session: Session, onboardingUrl: string): WireResponse =>
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

/** Returns the response of section 4.4, with the fields that the control API overrides. */
export const sessionResponse = (session: Session): WireResponse => {
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

import { hash } from 'node:crypto';
import type { DocumentedFields, Drift } from '../../remote/drift.js';
import type { RemoteRequest, RemoteResponse } from '../../remote/outcome.rules.js';
import { UnreadableResponse } from '../../remote/wire/read-response.js';
import { asObject, readArray, readBoolean, readInstant } from '../../remote/wire/read-field.js';
import { type Fields, readString, readUuid } from '../../remote/wire/read-field.js';
import { classify, MAX_INVERTERS, type Observation } from '../rules/machine.rules.js';
import type { RecordedResponse } from '../rules/reconcile.rules.js';

interface ObservedSession extends Observation {
  readonly sessionId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface StartedSession extends ObservedSession {
  /** Anyone with this URL may act for the owner: encrypt it, never log it. */
  readonly startUrl: string;
  /** The response without its startUrl. */
  readonly response: RecordedResponse;
}

const SESSION_RESPONSE: DocumentedFields = {
  sessionId: 'UUID',
  finished: 'boolean',
  active: 'boolean',
  createdAt: 'timestamp',
  updatedAt: 'timestamp',
  expiresAt: 'timestamp',
};

/** The response to a start (interface sections 2.5 and 4.3). It has neither `expired` nor `inverters`. */
export const START_RESPONSE = {
  documented: { ...SESSION_RESPONSE, startUrl: 'URL' },
  read: readStartSessionResponse,
} as const;

/** The response to a read (interface sections 2.5, 2.6 and 4.4). The id is the only documented field of an inverter. */
export const READ_RESPONSE: DocumentedFields = {
  ...SESSION_RESPONSE,
  expired: 'boolean',
  inverters: [{ id: 'UUID' }],
};

const URL_MAX_LENGTH = 4_096;

/** Returns the request that starts a session (interface section 4.3). */
export function startSessionRequest(gridLocationId: string): RemoteRequest {
  return { operation: 'start_session', method: 'POST', path: `/api/v1/ssa/onboarding/pv/${gridLocationId}` };
}

/** Returns the started session. Throws UnreadableResponse. */
export function readStartSessionResponse(fields: Fields, response: RemoteResponse): StartedSession {
  const startUrl = readStartUrl(fields);
  const body = recordableBody(response.body, fields);
  return {
    ...readSession(fields),
    startUrl,
    response: { httpStatus: response.status, body, hash: hash('sha1', body), factsHash: null },
  };
}

/** The two possible paths for reading a session. Interface section 4.4 does not say which path to use. */
export type PathShape = 'onboarding' | 'user';

/** Returns the paths to try, the last successful path first. If the first response is one of UNSERVED, the caller tries the second. */
export function planShapes(
  configured: PathShape | 'auto',
  worked: PathShape | null,
): readonly [PathShape, PathShape?] {
  if (configured !== 'auto') return [configured];
  return worked === 'user' ? ['user', 'onboarding'] : ['onboarding', 'user'];
}

/** The statuses with which a service or a gateway may respond to a path that it does not serve. */
const UNSERVED: Readonly<Record<number, 'refused' | 'not_found' | 'no_path'>> = {
  401: 'refused',
  403: 'refused',
  404: 'not_found',
  405: 'no_path',
  410: 'not_found',
  501: 'no_path',
};

export const mayBeUnserved = (status: number): boolean => status in UNSERVED;

/**
 * Returns which of two statuses of UNSERVED is about the session; the other is about its path. If the first path has worked before, its
 * status is about the session. Otherwise, returns a refusal (401, 403) rather than a status for a missing session, because a refused
 * session may still exist.
 */
export function statusOfSession(first: number, second: number, firstHasWorked: boolean): number {
  if (UNSERVED[first] === 'no_path') return second;
  if (UNSERVED[second] === 'no_path' || firstHasWorked) return first;
  return UNSERVED[first] === 'refused' ? first : second;
}

export function readSessionRequest(
  shape: PathShape,
  { sessionId, userId }: Readonly<Record<'sessionId' | 'userId', string>>,
): RemoteRequest {
  const path =
    shape === 'onboarding'
      ? `onboarding/pv/${sessionId}`
      : `users/${userId}/pv/onboarding-sessions/${sessionId}`;
  return { operation: 'read_session', method: 'GET', path: `/api/v1/ssa/${path}` };
}

/** Returns the observed session. Throws UnreadableResponse if the response is unreadable or about another session. */
export function readReadSessionResponse(fields: Fields, sessionId: string): ObservedSession {
  const observed = readSession(fields);
  if (observed.sessionId !== sessionId)
    throw new UnreadableResponse('sessionId is not the requested one', 'sessionId');
  return observed;
}

/** Returns the SHA-1 (hex) of the documented fields. Neither the order of the inverters nor the content of an overlong list matters. */
export function hashFacts(seen: ObservedSession): string {
  const { finished, active, expired, createdAt, updatedAt, expiresAt, inverters } = seen;
  const isTooLong = inverters !== null && inverters.length > MAX_INVERTERS;
  const listed = isTooLong ? 'too many' : (inverters?.toSorted() ?? null);
  return hash('sha1', JSON.stringify([finished, active, expired, createdAt, updatedAt, expiresAt, listed]));
}

/** Returns the drift if the interface (section 3) does not describe the flags, or if the list of inverters is too long. */
export function findFlagDrift(seen: Observation): Drift[] {
  const { state, rule } = classify(seen);
  if (state !== 'unrecognised') return [];
  if (rule === 'too_many_inverters') {
    const expected = `array of at most ${MAX_INVERTERS}`;
    return [{ kind: 'other_type', field: 'inverters', expected, found: 'a longer array' }];
  }
  const { finished, active, expired, inverters } = seen;
  const field = `finished=${finished} active=${active} expired=${expired ?? 'absent'} inverters=${(inverters?.length ?? 0) > 0 ? 'some' : 'none'}`;
  return [{ kind: 'undescribed_flags', field, expected: null, found: null }];
}

/** Matches the path of each startUrl (interface section 2.5), by which it is found under any name, also in a text or a link that escapes it. */
const WEB_FLOW = /\/pv-onboarding\/|pv-onboarding(?:\\\/|%(?:25)*2F)/i;

/** Returns the JSON to record, without a byte order mark (PostgreSQL rejects it), any startUrl, whatever its name is, and any token. */
export function recordableBody(body: string, fields: Fields): string {
  const withoutMark = body.startsWith('\ufeff') ? body.slice(1) : body;
  const links = typeof fields.startUrl === 'string' && fields.startUrl !== '' ? [fields.startUrl] : [];
  const isLink = (text: unknown): boolean =>
    typeof text === 'string' && (WEB_FLOW.test(text) || links.some((link) => text.includes(link)));
  let hasStartUrl = false;
  const withoutUrl = JSON.stringify(fields, (name, value: unknown) => {
    if (!/^startUrl$|token/i.test(name) && !isLink(name) && !isLink(value)) return value;
    hasStartUrl = true;
    // An array keeps null in its place.
    return undefined;
  });
  return hasStartUrl ? withoutUrl : withoutMark;
}

/** Reads a recorded body, already parsed as JSON. Throws UnreadableResponse. */
export const readObservation = (body: unknown): Observation => readSession(asObject('the body', body));

function readSession(fields: Fields): ObservedSession {
  return {
    sessionId: readUuid(fields, 'sessionId'),
    finished: readBoolean(fields, 'finished'),
    active: readBoolean(fields, 'active'),
    // Null counts as absent.
    expired: isAbsent(fields.expired) ? null : readBoolean(fields, 'expired'),
    inverters: isAbsent(fields.inverters) ? null : readInverters(fields),
    createdAt: readInstant(fields, 'createdAt'),
    updatedAt: readInstant(fields, 'updatedAt'),
    expiresAt: readInstant(fields, 'expiresAt'),
  };
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

function readInverters(fields: Fields): string[] {
  const ids = readArray(fields, 'inverters').map((inverter, index) =>
    readUuid(asObject(`inverters[${index}]`, inverter), 'id'),
  );
  return [...new Set(ids)];
}

/** Returns the startUrl. Throws UnreadableResponse for a URL that a parser would change, or that two parsers would read differently. */
function readStartUrl(fields: Fields): string {
  const startUrl = readString(fields, 'startUrl');
  if (/[\p{Cc}\p{Cf}\p{Z}\\]/u.test(startUrl))
    throw new UnreadableResponse('startUrl holds a control character, a space or a backslash');
  const isHttp = /^https?:\/\/[^/?#]/i.test(startUrl) && URL.canParse(startUrl);
  if (startUrl.length > URL_MAX_LENGTH || !isHttp)
    throw new UnreadableResponse(`startUrl is not an http(s) URL of at most ${URL_MAX_LENGTH} characters`);
  if (/^https?:\/\/[^/?#]*@/i.test(startUrl))
    throw new UnreadableResponse('startUrl holds a user or a password');
  return startUrl;
}

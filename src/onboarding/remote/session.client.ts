import { hash } from 'node:crypto';
import type { DocumentedFields, Drift } from '../../remote/drift/drift.js';
import type { RemoteAnswer, RemoteRequest } from '../../remote/outcome.rules.js';
import { UnreadableAnswer } from '../../remote/wire/read-response.js';
import {
  asObject,
  readArray,
  readBoolean,
  readInstant,
  readObject,
  readString,
  readUuid,
} from '../../remote/wire/read-field.js';
import type { Fields } from '../../remote/wire/read-field.js';
import { classify, MAX_INVERTERS } from '../rules/machine.rules.js';
import type { Observation } from '../rules/machine.rules.js';
import type { KeptAnswer } from '../rules/read-plan.rules.js';
import type { PathShape } from './path-shape.rules.js';

/** The content of every response about a session (interface section 2.5). */
export interface ObservedSession extends Observation {
  readonly sessionId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface StartedSession extends ObservedSession {
  /** A bearer capability: encrypt it, never log it. */
  readonly startUrl: string;
  /** The response without its startUrl. */
  readonly answer: KeptAnswer;
}

const SESSION_ANSWER: DocumentedFields = {
  sessionId: 'UUID',
  finished: 'boolean',
  active: 'boolean',
  createdAt: 'timestamp',
  updatedAt: 'timestamp',
  expiresAt: 'timestamp',
};

/** Interface sections 2.5 and 4.3: without `expired` and `inverters`. */
export const START_ANSWER: DocumentedFields = { ...SESSION_ANSWER, startUrl: 'URL' };

/** Interface sections 2.5, 2.6 and 4.4: the id is the only field shown of an inverter. */
export const READ_ANSWER: DocumentedFields = {
  ...SESSION_ANSWER,
  expired: 'boolean',
  inverters: [{ id: 'UUID' }],
};

const START_URL_MAX_LENGTH = 4_096;

/** Returns the request of interface section 4.3. */
export function startSessionRequest(gridLocationId: string): RemoteRequest {
  return { operation: 'start_session', method: 'POST', path: `/api/v1/ssa/onboarding/pv/${gridLocationId}` };
}

/** Throws UnreadableAnswer. */
export function readStartSessionResponse(answer: RemoteAnswer): StartedSession {
  const fields = readObject(answer.body);
  const startUrl = readStartUrl(fields);
  const body = keepableBody(answer.body);
  return {
    ...readSession(fields),
    startUrl,
    answer: { httpStatus: answer.status, body, hash: hash('sha1', body), factsHash: null },
  };
}

/** Returns the request of interface section 4.4, with the given one of its two path shapes. */
export function readSessionRequest(
  shape: PathShape,
  session: { readonly sessionId: string; readonly userId: string },
): RemoteRequest & { readonly operation: 'read_session' } {
  const path =
    shape === 'onboarding'
      ? `/api/v1/ssa/onboarding/pv/${session.sessionId}`
      : `/api/v1/ssa/users/${session.userId}/pv/onboarding-sessions/${session.sessionId}`;
  return { operation: 'read_session', method: 'GET', path };
}

/** Throws UnreadableAnswer, also if the response is about another session. */
export function readReadSessionResponse(answer: RemoteAnswer, sessionId: string): ObservedSession {
  const observed = readSession(readObject(answer.body));
  if (observed.sessionId !== sessionId)
    throw new UnreadableAnswer('sessionId is not the one that was asked for', 'sessionId');
  return observed;
}

/**
 * Returns the SHA-1 (hex) of the documented fields of a response, independent of its bytes and of the order of its inverters. A list too
 * long to be recorded counts as one fact.
 */
export function factsHashOf(seen: ObservedSession): string {
  const { finished, active, expired, createdAt, updatedAt, expiresAt, inverters } = seen;
  const listed = inverters.length > MAX_INVERTERS ? 'too many' : inverters.toSorted();
  return hash('sha1', JSON.stringify([finished, active, expired, createdAt, updatedAt, expiresAt, listed]));
}

/** Returns the drift of a combination of flags that the interface does not describe (section 3), or of an impossible list. */
export function findFlagDrift(seen: Observation): Drift[] {
  // The start decides which rule describes the flags, not whether one does.
  const { state, rule } = classify(seen, seen.updatedAt);
  if (state !== 'unrecognised') return [];
  if (rule === 'too_many_inverters') {
    const expected = `array of at most ${MAX_INVERTERS}`;
    return [{ kind: 'other_type', field: 'inverters', expected, found: 'a longer array' }];
  }
  const { finished, active, expired, inverters } = seen;
  const field = `finished=${finished} active=${active} expired=${expired ?? 'absent'} inverters=${inverters.length > 0 ? 'some' : 'none'}`;
  return [{ kind: 'undescribed_flags', field, expected: null, found: null }];
}

/**
 * Returns the JSON text to record: as received, but without a byte order mark, which PostgreSQL's json rejects, and without any startUrl.
 * The interface shows a startUrl only in the response to a start; recorded, it would open the web flow to every reader of the history.
 */
export function keepableBody(body: string): string {
  if (!MAY_HOLD_START_URL.test(body)) return withoutMark(body);
  const fields = readObject(body);
  let hasStartUrl = false;
  const kept = JSON.stringify(fields, (name, value: unknown) => {
    if (name !== 'startUrl') return value;
    hasStartUrl = true;
    return undefined;
  });
  return hasStartUrl ? kept : withoutMark(body);
}

/** A JSON name may be written with escapes. */
const MAY_HOLD_START_URL = /startUrl|\\u/;

const withoutMark = (body: string): string => (body.startsWith('\ufeff') ? body.slice(1) : body);

/** Reads a recorded body. Throws UnreadableAnswer. */
export const readObservation = (body: string): Observation => readSession(readObject(body));

function readSession(fields: Fields): ObservedSession {
  return {
    sessionId: readUuid(fields, 'sessionId'),
    finished: readBoolean(fields, 'finished'),
    active: readBoolean(fields, 'active'),
    // The response to a start has neither of the two; null counts as absent.
    expired: isAbsent(fields.expired) ? null : readBoolean(fields, 'expired'),
    inverters: isAbsent(fields.inverters) ? [] : readInverters(fields),
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

/**
 * Returns the startUrl, which the owner's browser opens. Throws UnreadableAnswer for a URL that a parser would silently change or that
 * two parsers would read differently.
 */
function readStartUrl(fields: Fields): string {
  const startUrl = readString(fields, 'startUrl');
  if (/[\p{Cc}\p{Cf}\p{Z}\\]/u.test(startUrl)) {
    throw new UnreadableAnswer('startUrl holds a control character, a space or a backslash');
  }
  if (
    startUrl.length > START_URL_MAX_LENGTH ||
    !/^https?:\/\/[^/?#]/i.test(startUrl) ||
    !URL.canParse(startUrl)
  ) {
    throw new UnreadableAnswer('startUrl is not an http(s) URL');
  }
  if (/^https?:\/\/[^/?#]*@/i.test(startUrl))
    throw new UnreadableAnswer('startUrl holds a user or a password');
  return startUrl;
}

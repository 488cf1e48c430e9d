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

/** What every answer about a session says (interface section 2.5). */
export interface ObservedSession extends Observation {
  readonly sessionId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface StartedSession extends ObservedSession {
  /** A bearer capability: encrypt it, log it nowhere. */
  readonly startUrl: string;
  /** The answer without its startUrl. */
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

/** Interface sections 2.5 and 4.3: neither `expired` nor `inverters` is here. */
export const START_ANSWER: DocumentedFields = { ...SESSION_ANSWER, startUrl: 'URL' };

/** Interface sections 2.5, 2.6 and 4.4: no field of an inverter but its id is shown. */
export const READ_ANSWER: DocumentedFields = {
  ...SESSION_ANSWER,
  expired: 'boolean',
  inverters: [{ id: 'UUID' }],
};

const START_URL_MAX_LENGTH = 4_096;

/** Interface section 4.3. */
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

/** Interface section 4.4, in the given one of its two path shapes. */
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

/** Throws UnreadableAnswer, also when the answer is about another session. */
export function readReadSessionResponse(answer: RemoteAnswer, sessionId: string): ObservedSession {
  const observed = readSession(readObject(answer.body));
  if (observed.sessionId !== sessionId)
    throw new UnreadableAnswer('sessionId is not the one that was asked for', 'sessionId');
  return observed;
}

/**
 * Returns the SHA-1, hex, of what a response says in documented fields, whatever its bytes. An inverter may move in the list, and a list
 * too long to be recorded counts as one fact.
 */
export function factsHashOf(seen: ObservedSession): string {
  const { finished, active, expired, createdAt, updatedAt, expiresAt, inverters } = seen;
  const listed = inverters.length > MAX_INVERTERS ? 'too many' : inverters.toSorted();
  return hash('sha1', JSON.stringify([finished, active, expired, createdAt, updatedAt, expiresAt, listed]));
}

/** Returns the drift of a combination of flags that the interface does not describe (section 3), or of an impossible list. */
export function findFlagDrift(seen: Observation): Drift[] {
  // The start matters to rules about what is described, and not to whether anything is.
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
 * The JSON text as it may be kept: as it came, but for a byte order mark, which PostgreSQL's json refuses, and any startUrl. The
 * interface shows one in the answer to a start only; wherever one stands, it would open the web flow to whoever reads the history.
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

/** A name may be written with escapes. */
const MAY_HOLD_START_URL = /startUrl|\\u/;

const withoutMark = (body: string): string => (body.startsWith('\ufeff') ? body.slice(1) : body);

/** A kept body. Throws UnreadableAnswer. */
export const readObservation = (body: string): Observation => readSession(readObject(body));

function readSession(fields: Fields): ObservedSession {
  return {
    sessionId: readUuid(fields, 'sessionId'),
    finished: readBoolean(fields, 'finished'),
    active: readBoolean(fields, 'active'),
    // The start answer has neither of the two; null is taken for absence.
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

/** The owner's browser opens it: what a parser would silently drop or read differently from another is refused. */
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

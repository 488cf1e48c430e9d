import type { NewEvent } from '../../events/catalogue.rules.js';
import { findEnd, NO_EVIDENCE, weighEnd, type CloseReason, type EndEvidence } from './ending.rules.js';
import { countChange, type ChangeRecord } from './flapping.rules.js';
import { classify, classifyGone, MAX_INVERTERS, next, withKnown } from './machine.rules.js';
import type { Observation, SessionState, Classification } from './machine.rules.js';
import { LASTING_INTERVALS, phaseOf, type Phase, type ScheduleSettings } from './schedule.rules.js';
import { changeEvents, factsOf, flappingEvent } from './session-events.rules.js';
import type { EventSubject, SessionChange } from './session-events.rules.js';

export interface SessionRecord extends EventSubject, ChangeRecord, EndEvidence {
  readonly finished: boolean;
  readonly expired: boolean | null;
  readonly startedUpdatedAt: Date;
  /** `updatedAt` of the last recorded response. */
  readonly updatedAt: Date;
  readonly expiresAt: Date;
  readonly recordedAt: Date;
  readonly changedAt: Date;
  readonly closedAt: Date | null;
  readonly closeReason: CloseReason | null;
  /** When the phase began; null when the session is not watched. */
  readonly anchorAt: Date | null;
  /** The time of the first response that was older than the last recorded one, if all since were. */
  readonly olderSince: Date | null;
  readonly inverters: readonly RecordedInverter[];
}

interface RecordedInverter {
  readonly id: string;
  readonly missing: boolean;
  /** For how long no response has listed it. Null while the last response lists it. */
  readonly absentMs: number | null;
}

/** A response as recorded in session_observations. */
export interface RecordedResponse {
  readonly httpStatus: number;
  /** The JSON text to record; null for a response that makes a session lost. */
  readonly body: string | null;
  /** SHA-1 of the body, hex. */
  readonly hash: string;
  /** SHA-1 (hex) of the documented fields; null without a body, or for the response to a start. */
  readonly factsHash: string | null;
}

export interface Observed {
  readonly kind: 'observed';
  readonly observation: Observation & { readonly createdAt: Date; readonly expiresAt: Date };
  readonly response: RecordedResponse;
}

/** The input of a decision, usually the result of a read. */
export type Reading =
  | Observed
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'gone'; readonly status: number }
  /** The classification that the current rules derive from all recorded responses. */
  | { readonly kind: 'rederived'; readonly classification: Classification };

/** How a session is watched from now on. */
interface Watch extends ChangeRecord, EndEvidence {
  readonly phase: Phase;
  readonly anchorAt: Date;
  readonly lookAgainAt: Date | null;
  readonly olderSince: Date | null;
}

/** Everything that a reading changes. Events are in the order of their publication. */
export interface Decision extends SessionChange {
  /** Whether the reading changes the record of the session, apart from the time of the read. */
  readonly isRecorded: boolean;
  /** Inverters that the reading is the first not to list. They count as present until a later reading confirms it. */
  readonly absent: readonly string[];
  /** Absent inverters that are listed again, or about which the reading says nothing. */
  readonly trusted: readonly string[];
  /** Null if the session is no longer watched. */
  readonly watch: Watch | null;
  readonly events: readonly NewEvent[];
}

type InverterChanges = Pick<Decision, 'listed' | 'absent' | 'missing' | 'trusted'>;

const NOTHING: Decision = {
  isRecorded: false,
  transition: null,
  listed: [],
  absent: [],
  missing: [],
  trusted: [],
  close: null,
  isReopened: false,
  watch: null,
  events: [],
};

/** Returns what `reading` changes about `session` at `now` (the database's clock). */
export function reconcile(
  session: SessionRecord,
  reading: Reading,
  now: Date,
  settings: ScheduleSettings,
): Decision {
  const context = { session, now, settings };
  const { change, present, watch, isSettled } = changeBy(reading, context);
  const { transition, close, isReopened } = change;
  const isClosed = session.closedAt !== null && !isSettled;
  const isOld = isOlder(reading, transition, context);
  if (isClosed && (isOld || (!isReopened && transition === null))) return NOTHING;
  // Nobody waits for a settled session, so it is not lost. Only its watch ends.
  if (isSettled && reading.kind === 'gone') return NOTHING;
  if (isOld) return keep(session, session.olderSince ?? now, context);

  const isNews = reading.kind === 'observed' && (!isSettled || close !== null || changesInverters(change));
  const isChange = isNews || transition !== null || change.missing.length > 0;
  const mustPass =
    isClosed || close !== null || transition?.state === 'online' || reading.kind === 'rederived';
  const counted = isChange ? countChange(session, mustPass, now) : { isHeldBack: false, record: session };
  if (counted.isHeldBack) return holdBack(counted.record, context);

  const { changesClearAt, flappingSince } = counted.record;
  const isWatched = isSettled || isReopened || (!isClosed && close === null);
  const facts = factsOf(session, transition ?? session, session.state, present, now);
  return {
    ...change,
    isRecorded: isChange || close !== null,
    watch: isWatched ? { ...watch, olderSince: null, changesClearAt, flappingSince } : null,
    events: changeEvents(facts, change),
  };
}

/** The context of a reading: the session, the time of the database and the schedule. */
interface Context {
  readonly session: SessionRecord;
  readonly now: Date;
  readonly settings: ScheduleSettings;
}

/** Returns what the reading would change, whether or not it is recorded. */
function changeBy(reading: Reading, context: Context) {
  const { session, now, settings } = context;
  const classification = classificationOf(session, reading);
  const transition = reading.kind === 'rederived' ? classification : next(session.state, classification);
  const state = transition?.state ?? session.state;
  const { present, stillAbsent, ...inverters } = compareInverters(reading, classification, context);
  // Only a change of phase restarts the watch window. Otherwise, alternating between lost and expired would extend the watch forever.
  const isSamePhase = phaseOf(state) === phaseOf(session.state);
  const anchorAt = isSamePhase ? (session.anchorAt ?? now) : now;
  const { reason, close, evidence } = endOf(reading, state, anchorAt, context);
  const isClosed = session.closedAt !== null;
  const isSettled = isWatchedOn({ ...session, state }, close, settings);
  const isReopened =
    isClosed && !isSettled && reading.kind === 'observed' && (reason === null || inverters.listed.length > 0);
  const begins = isReopened || (isSettled && !isClosed);
  const watch = {
    phase: isSettled ? ('watching' as const) : phaseOf(state),
    anchorAt: begins ? now : anchorAt,
    lookAgainAt: lookAgain(stillAbsent, now, settings),
    ...(isSettled ? NO_EVIDENCE : evidence),
  };
  const change = { transition, ...inverters, close: isClosed ? null : close, isReopened };
  return { change, present, watch, isSettled };
}

/** Returns whether a session that was closed as settled, or is closed now for `close`, is read now and then from now on. */
const isWatchedOn = (
  { state, closeReason }: Pick<SessionRecord, 'state' | 'closeReason'>,
  close: CloseReason | null,
  { watchMs }: ScheduleSettings,
): boolean => watchMs > 0 && state === 'online' && (closeReason ?? close) === 'settled';

const changesInverters = ({ listed, absent, missing, trusted }: InverterChanges): boolean =>
  [listed, absent, missing, trusted].some(({ length }) => length > 0);

/**
 * Returns whether a response is older than the last recorded one, so that it is not news: the remote service may read from a replica that
 * lags behind. `transition`: what the response would change.
 */
// It counts all the same if it brings the session online, which no later response revokes, or finds a lost session. It also counts if all
// responses have been older for hours: then the recorded `updatedAt` was wrong.
function isOlder(reading: Reading, transition: Classification | null, { session, now, settings }: Context) {
  const { state, updatedAt, olderSince } = session;
  if (reading.kind !== 'observed' || reading.observation.updatedAt >= updatedAt) return false;
  if (state === 'lost' || transition?.state === 'online') return false;
  return olderSince === null || now.getTime() - olderSince.getTime() < settings.endEvidenceMs;
}

/** Returns the decision that changes nothing and continues the watch. */
function keep(record: ChangeRecord, olderSince: Date | null, { session, now, settings }: Context): Decision {
  const { state, anchorAt, endingSince, endingReads } = session;
  const { changesClearAt, flappingSince } = record;
  const lookAgainAt = lookAgain(session.inverters.filter(isAbsent), now, settings);
  return {
    ...NOTHING,
    watch: {
      phase: isWatchedOn(session, null, settings) ? 'watching' : phaseOf(state),
      anchorAt: anchorAt ?? now,
      lookAgainAt,
      olderSince,
      endingSince,
      endingReads,
      changesClearAt,
      flappingSince,
    },
  };
}

/** Returns the decision for a session that changes too often: the reading is dropped, and the watch continues. */
function holdBack(record: ChangeRecord, context: Context): Decision {
  const { session, now } = context;
  const facts = factsOf(session, session, session.state, presentOf(session), now);
  const events = session.flappingSince === null ? [flappingEvent(facts)] : [];
  return { ...keep(record, null, context), events };
}

function classificationOf(session: SessionRecord, reading: Reading): Classification {
  switch (reading.kind) {
    case 'observed':
      return classify(withKnown(reading.observation, session.expired), session.startedUpdatedAt);
    case 'unchanged':
      return { state: session.state, basis: session.basis, rule: session.rule };
    case 'gone':
      return classifyGone(reading.status);
    case 'rederived':
      return reading.classification;
  }
}

/** Returns the reason to end the watch, if the reading gives one, and whether the watch ends now. `state`: the state after the reading. */
function endOf(reading: Reading, state: SessionState, anchorAt: Date, { session, now, settings }: Context) {
  const observed = reading.kind === 'observed' ? reading.observation : null;
  const expiresAt = observed?.expiresAt ?? session.expiresAt;
  const isFinished = observed?.finished ?? session.finished;
  // If an online session is no longer `finished`, its watch ends like the watch of a session that was never online, not as `settled`.
  const phase = state === 'online' && !isFinished ? 'awaiting_installation' : phaseOf(state);
  const isGone = reading.kind === 'gone';
  const reason = isGone
    ? 'lost'
    : findEnd({ phase, anchorAt, expiresAt, recordedAt: session.recordedAt }, now, settings);
  // A new expiresAt must last for some time before it ends the watch. If the record changed recently, its expiresAt may be new, since the
  // record does not say which field changed.
  const isFresh = now.getTime() - session.changedAt.getTime() < settings.endEvidenceMs;
  const endsByExpiry = phase !== 'settling' && phase !== 'late';
  const mustLast = isGone || expiresAt.getTime() !== session.expiresAt.getTime() || (endsByExpiry && isFresh);
  return { reason, ...weighEnd(reason, mustLast, session, now, settings) };
}

/** Compares the inverters. `present`: recorded and not missing after the reading; `stillAbsent`: those of them that its response omits. */
// One response without an inverter may be a fault of the remote service. So an inverter is missing only if a later response does not list
// it either, at least LASTING_INTERVALS after the first, and none between lists it. A response without a list says nothing.
function compareInverters(reading: Reading, classification: Classification, { session, settings }: Context) {
  const counted = session.inverters.filter(({ missing }) => !missing);
  const list =
    reading.kind === 'observed' && classification.rule !== 'too_many_inverters'
      ? reading.observation.inverters
      : null;
  if (list === null && reading.kind !== 'unchanged') {
    const isSilent = reading.kind === 'observed';
    return {
      ...{ listed: [], absent: [], missing: [], present: idsOf(counted) },
      trusted: isSilent ? idsOf(counted.filter(isAbsent)) : [],
      stillAbsent: isSilent ? [] : counted.filter(isAbsent),
    };
  }
  // An unchanged response lists what the last one listed.
  const ids = new Set(list ?? idsOf(counted.filter((each) => !isAbsent(each))));
  const known = new Map(session.inverters.map(({ id, missing }) => [id, missing]));
  // Limits the inverters recorded per session, even if every response lists different inverters.
  let room = MAX_INVERTERS - known.size;
  const seen = [...ids].filter((id) => known.has(id) || room-- > 0);
  const unlisted = counted.filter(({ id }) => !ids.has(id));
  const hasLasted = ({ absentMs }: RecordedInverter) => (absentMs ?? 0) >= lastingMs(settings);
  const stillAbsent = unlisted.filter((each) => !hasLasted(each));
  return {
    listed: list === null ? [] : seen.filter((id) => known.get(id) !== false),
    absent: idsOf(unlisted.filter((each) => !isAbsent(each))),
    missing: idsOf(unlisted.filter(hasLasted)),
    trusted: idsOf(counted.filter((each) => isAbsent(each) && ids.has(each.id))),
    present: [...seen, ...idsOf(stillAbsent)],
    stillAbsent,
  };
}

const lastingMs = ({ minIntervalMs }: ScheduleSettings): number => LASTING_INTERVALS * minIntervalMs;

const isAbsent = ({ missing, absentMs }: RecordedInverter): boolean => !missing && absentMs !== null;

/** Returns when a reading can first confirm that one of the absent inverters is missing. */
function lookAgain(absent: readonly RecordedInverter[], now: Date, settings: ScheduleSettings): Date | null {
  if (absent.length === 0) return null;
  const longestMs = Math.max(...absent.map(({ absentMs }) => absentMs ?? 0));
  return new Date(now.getTime() - longestMs + lastingMs(settings));
}

const idsOf = (inverters: readonly RecordedInverter[]): string[] => inverters.map(({ id }) => id);

const presentOf = ({ inverters }: SessionRecord): string[] =>
  idsOf(inverters.filter(({ missing }) => !missing));

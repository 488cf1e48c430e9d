import type { NewEvent } from '../../events/catalogue.rules.js';
import { findEnd, weighEnd, type EndEvidence } from './ending.rules.js';
import { countChange, type ChangeRecord } from './flapping.rules.js';
import { classify, classifyGone, MAX_INVERTERS, next } from './machine.rules.js';
import type { Observation, SessionState, Classification } from './machine.rules.js';
import { phaseOf, type Phase, type ScheduleSettings } from './schedule.rules.js';
import { changeEvents, factsOf, flappingEvent } from './session-events.rules.js';
import type { EventSubject, SessionChange } from './session-events.rules.js';

export interface SessionRecord extends EventSubject, ChangeRecord, EndEvidence {
  readonly finished: boolean;
  readonly startedUpdatedAt: Date;
  readonly expiresAt: Date;
  readonly recordedAt: Date;
  readonly changedAt: Date;
  readonly closedAt: Date | null;
  /** When the phase began; null when the session is not watched. */
  readonly anchorAt: Date | null;
  readonly inverters: readonly { readonly id: string; readonly missing: boolean }[];
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
}

/** Everything that a reading changes. Events are in the order of their publication. */
export interface Decision extends SessionChange {
  /** Whether the reading changes the record of the session, apart from the time of the read. */
  readonly isRecorded: boolean;
  /** Null if the session is no longer watched. */
  readonly watch: Watch | null;
  readonly events: readonly NewEvent[];
}

const NOTHING: Decision = {
  isRecorded: false,
  transition: null,
  listed: [],
  missing: [],
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
  const { change, present, watch } = changeBy(reading, { session, now, settings });
  const { transition, close, isReopened } = change;
  const isClosed = session.closedAt !== null;
  if (isClosed && !isReopened && transition === null) return NOTHING;

  const isChange = reading.kind === 'observed' || transition !== null;
  const mustPass =
    isClosed || close !== null || transition?.state === 'online' || reading.kind === 'rederived';
  const counted = isChange ? countChange(session, mustPass, now) : { isHeldBack: false, record: session };
  if (counted.isHeldBack) return holdBack(session, counted.record, now);

  const { changesClearAt, flappingSince } = counted.record;
  const isWatched = isReopened || (!isClosed && close === null);
  const facts = factsOf(session, transition ?? session, session.state, present, now);
  return {
    ...change,
    isRecorded: isChange || close !== null,
    watch: isWatched ? { ...watch, changesClearAt, flappingSince } : null,
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
  const { session, now } = context;
  const classification = classificationOf(session, reading);
  const transition = reading.kind === 'rederived' ? classification : next(session.state, classification);
  const state = transition?.state ?? session.state;
  const { listed, missing, present } = compareInverters(session, reading, classification);
  // Only a change of phase restarts the watch window. Otherwise, alternating between lost and expired would extend the watch forever.
  const isSamePhase = phaseOf(state) === phaseOf(session.state);
  const anchorAt = isSamePhase ? (session.anchorAt ?? now) : now;
  const { reason, close, evidence } = endOf(reading, state, anchorAt, context);
  const isClosed = session.closedAt !== null;
  const isReopened = isClosed && reading.kind === 'observed' && (reason === null || listed.length > 0);
  const watch = { phase: phaseOf(state), anchorAt: isReopened ? now : anchorAt, ...evidence };
  const change = { transition, listed, missing, close: isClosed ? null : close, isReopened };
  return { change, present, watch };
}

/** Returns the decision for a session that changes too often: the reading is dropped, and the watch continues. */
function holdBack(session: SessionRecord, record: ChangeRecord, now: Date): Decision {
  const facts = factsOf(session, session, session.state, presentOf(session), now);
  const { state, anchorAt, endingSince, endingReads } = session;
  return {
    ...NOTHING,
    watch: { phase: phaseOf(state), anchorAt: anchorAt ?? now, endingSince, endingReads, ...record },
    events: session.flappingSince === null ? [flappingEvent(facts)] : [],
  };
}

function classificationOf(session: SessionRecord, reading: Reading): Classification {
  switch (reading.kind) {
    case 'observed':
      return classify(reading.observation, session.startedUpdatedAt);
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

/** Compares the inverters. `present`: the recorded inverters that are not missing after the reading. */
function compareInverters(session: SessionRecord, reading: Reading, classification: Classification) {
  const known = new Map(session.inverters.map(({ id, missing }) => [id, missing]));
  if (reading.kind !== 'observed' || classification.rule === 'too_many_inverters') {
    return { listed: [], missing: [], present: presentOf(session) };
  }
  const ids = new Set(reading.observation.inverters);
  // Limits the inverters recorded per session, even if every response lists different inverters.
  let room = MAX_INVERTERS - known.size;
  const present = [...ids].filter((id) => known.has(id) || room-- > 0);
  return {
    listed: present.filter((id) => known.get(id) !== false),
    missing: [...known].filter(([id, missing]) => !missing && !ids.has(id)).map(([id]) => id),
    present,
  };
}

const presentOf = ({ inverters }: SessionRecord): string[] =>
  inverters.filter(({ missing }) => !missing).map(({ id }) => id);

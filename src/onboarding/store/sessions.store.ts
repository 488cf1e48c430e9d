import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { SESSION_STATES } from '../../events/event-schemas.rules.js';
import { appendEvents } from '../../events/outbox.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { Database, type Statement, type Transaction } from '../../platform/database/database.js';
import { Environment } from '../../platform/env/environment.js';
import * as polls from '../poll/polls.sql.js';
import type { ClaimedPoll } from '../poll/polls.store.js';
import { reconcile } from '../rules/reconcile.rules.js';
import type { Decision, Reading, RecordedResponse, SessionRecord } from '../rules/reconcile.rules.js';
import { planNextReadMs, scheduleSettings } from '../rules/schedule.rules.js';
import { bytesToWrite, countOfSet } from '../rules/write-sets.rules.js';
import * as sql from './sessions.sql.js';

const HASH_OF_NOTHING = hash('sha1', '');

/** The result of a read, and the batch that claimed the session for it. */
export interface BatchReading extends Pick<ClaimedPoll, 'sessionId' | 'batchId' | 'traceparent'> {
  readonly reading: Reading;
}

export interface LockedSession extends SessionRecord {
  readonly batchId: string | null;
  readonly responseHash: string | null;
  readonly now: Date;
  readonly stretch: number;
}

interface LockedRead extends Pick<BatchReading, 'reading' | 'traceparent'> {
  readonly session: LockedSession;
}

interface Move extends LockedRead {
  readonly decision: Decision;
}

/** Changes the states of sessions, each with its transition and events in one transaction. StartsStore writes the initial state. */
@Injectable()
export class SessionsStore {
  private readonly settings = scheduleSettings(this.environment);
  private readonly changes = this.metrics.counter({
    name: 'pv_onboarding_session_transitions_total',
    help: 'Changes of sessions that this process recorded, by the new state',
    labels: ['state'],
  });

  constructor(
    private readonly database: Database,
    private readonly environment: Environment,
    private readonly metrics: Metrics,
  ) {
    for (const state of SESSION_STATES) this.changes.inc({ state }, 0);
  }

  /**
   * Applies readings in one transaction. Skips a reading if its batch has lost the claim on the session; `stale`: how many were skipped.
   * If the commit was not confirmed, the caller may apply the same readings again.
   */
  async applyReadings(readings: readonly BatchReading[]): Promise<{ readonly stale: number }> {
    const byId = new Map(readings.map((reading) => [reading.sessionId, reading]));
    return this.database.transaction(async (tx) => {
      const locked = await tx.query<LockedSession>(sql.LOCK_SESSIONS, [[...byId.keys()]]);
      const claimed = locked
        .map((session) => ({ ...byId.get(session.id)!, session }))
        .filter(({ session, batchId }) => session.batchId === batchId);
      for (let rest = claimed.filter((read) => !isWritten(read)); rest.length > 0;) {
        const count = countOfSet(rest, ({ session, reading }) =>
          bytesToWrite(reading, session.inverters.length),
        );
        await this.write(tx, rest.slice(0, count));
        rest = rest.slice(count);
      }
      return { stale: readings.length - claimed.length };
    });
  }

  /** Writes what the readings of locked sessions change. */
  async write(tx: Transaction, reads: readonly LockedRead[]): Promise<void> {
    const moves = reads.map((read) => {
      const { session, reading } = read;
      return { ...read, decision: reconcile(session, reading, session.now, this.settings) };
    });
    const recorded = moves.filter(({ decision }) => decision.isRecorded);
    await writeStates(tx, recorded);
    const states = recorded.flatMap(({ decision: { transition } }) => transition?.state ?? []);
    if (states.length > 0) tx.afterCommit(() => states.forEach((state) => this.changes.inc({ state })));
    await this.reschedule(tx, moves);
    const events = moves.flatMap(({ decision, traceparent }) =>
      decision.events.map((event) => ({ ...event, traceparent })),
    );
    await appendEvents(tx, events);
  }

  private async reschedule(tx: Transaction, moves: readonly Move[]): Promise<void> {
    const rows = moves.flatMap(
      ({ session: { id, now, stretch }, reading, decision: { isRecorded, watch } }) => {
        if (watch === null) return [];
        const nextMs = planNextReadMs({ ...watch, failures: 0 }, now, this.settings, stretch, Math.random());
        const response = isRecorded ? responseOf(reading) : undefined;
        return { ...watch, ...response, sessionId: id, isRecorded: response !== undefined, nextMs };
      },
    );
    await run(tx, polls.RESCHEDULE, rows);
    const unwatched = moves.filter(({ decision }) => decision.watch === null);
    if (unwatched.length > 0) await tx.query(polls.END_WATCHES, [unwatched.map(({ session }) => session.id)]);
  }
}

/** Runs a statement whose parameter is a JSON array of rows. Does nothing without rows. */
async function run(tx: Transaction, statement: string | Statement, rows: readonly object[]): Promise<void> {
  if (rows.length > 0) await tx.query(statement, [JSON.stringify(rows)]);
}

async function writeStates(tx: Transaction, moves: readonly Move[]): Promise<void> {
  const observations = moves.flatMap(({ session, reading }) => {
    const response = responseOf(reading);
    return response === undefined ? [] : { ...response, sessionId: session.id };
  });
  const observationIds = await sql.insertObservations(tx, observations);
  await run(tx, sql.MOVE_SESSIONS, moves.map(moveRow));
  const transitions = moves.flatMap(({ session: { id, state, now }, decision: { transition } }) => {
    const observationId = observationIds.get(id) ?? null;
    return transition === null ? [] : { ...transition, sessionId: id, from: state, observationId, at: now };
  });
  await run(tx, sql.INSERT_TRANSITIONS, transitions);
  const invertersOf = (list: 'listed' | 'absent' | 'missing' | 'trusted') =>
    moves.flatMap(({ session, decision }) =>
      decision[list].map((id) => ({
        sessionId: session.id,
        id,
        at: list === 'trusted' ? null : session.now,
      })),
    );
  await run(tx, sql.UPSERT_INVERTERS, invertersOf('listed'));
  await run(tx, sql.MARK_ABSENT, [...invertersOf('absent'), ...invertersOf('trusted')]);
  await run(tx, sql.MISS_INVERTERS, invertersOf('missing'));
}

/** Returns whether an earlier attempt has already written the reading. If not, an `observed` response differs from the recorded one. */
// Compares the hash of the poll, since PostgreSQL rereads a locked row after a wait. It does not reread the inverters.
const isWritten = ({ session, reading }: LockedRead): boolean =>
  reading.kind === 'observed' && reading.response.hash === session.responseHash;

function responseOf(reading: Reading): RecordedResponse | undefined {
  if (reading.kind === 'observed') return reading.response;
  if (reading.kind !== 'gone') return undefined;
  return { httpStatus: reading.status, body: null, hash: HASH_OF_NOTHING, factsHash: null };
}

function moveRow({ session, reading, decision }: Move) {
  const { state, basis, rule } = decision.transition ?? session;
  const isObserved = reading.kind === 'observed';
  const { inverters: _, ...observed } = isObserved ? reading.observation : { inverters: [] };
  return {
    ...observed,
    isObserved,
    sessionId: session.id,
    from: session.state,
    state,
    basis,
    rule,
    closeReason: decision.close,
    isReopened: decision.isReopened,
    at: session.now,
  };
}

import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../access/audit-log.store.js';
import { appendEvents } from '../../events/outbox.js';
import { Database } from '../../platform/database/database.js';
import type { Transaction } from '../../platform/database/database.js';
import { Environment } from '../../platform/env/environment.js';
import type { SessionState, Verdict } from '../rules/machine.rules.js';
import * as polls from '../poll/polls.sql.js';
import { reconcile } from '../rules/reconcile.rules.js';
import type { Decision, Reading } from '../rules/reconcile.rules.js';
import { planNextReadMs, scheduleSettings } from '../rules/schedule.rules.js';
import { addsAnswer, answerRow, moveRow, pollRow, replacesAnswer, transitionRow } from './session.rows.js';
import type { AppliedReading, LockedSession, Move } from './session.rows.js';
import * as sql from './sessions.sql.js';
import { bytesToWrite, countOfSet } from '../rules/write-sets.rules.js';

/** A reading to apply, with the batch in which its session was claimed. */
export interface BatchReading extends AppliedReading {
  readonly batchId: string;
}

/** Changes the states of sessions, always with the transitions and events. Only StartedSessionsStore writes one too, the initial state. */
@Injectable()
export class SessionsStore {
  private readonly settings;

  constructor(
    private readonly database: Database,
    private readonly auditLog: AuditLog,
    environment: Environment,
  ) {
    this.settings = scheduleSettings(environment);
  }

  /**
   * Applies readings in one transaction. A reading is stale and changes nothing if its session is no longer claimed in that batch.
   * Returns how many were stale.
   */
  async applyReadings(readings: readonly BatchReading[]): Promise<{ readonly stale: number }> {
    const byId = new Map(readings.map((reading) => [reading.sessionId, reading]));
    return this.database.transaction(async (tx) => {
      const locked = await tx.query<LockedSession>(sql.LOCK_SESSIONS, [[...byId.keys()]]);
      const held = locked.filter((session) => session.batchId === byId.get(session.id)!.batchId);
      const bytesOf = ({ id, inverters }: LockedSession) => bytesToWrite(byId.get(id)!, inverters.length);
      for (let rest = held; rest.length > 0;) {
        const count = countOfSet(rest, bytesOf);
        const moves = rest.slice(0, count).map((session) => this.decide(session, byId.get(session.id)!));
        await this.write(tx, moves);
        rest = rest.slice(count);
      }
      return { stale: readings.length - held.length };
    });
  }

  private decide(session: LockedSession, reading: AppliedReading): Move {
    return { session, reading, decision: reconcile(session, reading.reading, session.now, this.settings) };
  }

  /**
   * Applies the states that the current rules derive from recorded responses. Skips sessions whose state has changed since the replay.
   * Returns the number of changed sessions. `actor` goes to the audit log.
   */
  async applyRederived(
    changes: readonly { readonly id: string; readonly from: SessionState; readonly verdict: Verdict }[],
    actor: string,
  ): Promise<number> {
    const byId = new Map(changes.map((change) => [change.id, change]));
    return this.database.transaction(async (tx) => {
      const locked = await tx.query<LockedSession>(sql.LOCK_ANY_SESSIONS, [[...byId.keys()]]);
      const moves = locked
        .filter((session) => session.state === byId.get(session.id)!.from)
        .map((session): Move => {
          const reading: Reading = { kind: 'rederived', verdict: byId.get(session.id)!.verdict };
          const decision = reconcile(session, reading, session.now, this.settings);
          return { session, reading: { sessionId: session.id, reading, answer: null }, decision };
        });
      await this.write(tx, moves);
      const entries = moves.map(({ session }) => {
        const { from, verdict } = byId.get(session.id)!;
        const details = { from, to: verdict.state, rule: verdict.rule };
        return { actor, action: 'session.rederived', target: session.id, details };
      });
      await this.auditLog.record(tx, ...entries);
      return moves.length;
    });
  }

  private async write(tx: Transaction, moves: readonly Move[]): Promise<void> {
    if (moves.length === 0) return;
    const recorded = moves.filter(({ decision }) => decision.isRecorded);
    if (recorded.length > 0) await this.record(tx, recorded);
    const replacing = moves.filter(replacesAnswer).map(answerRow);
    if (replacing.length > 0) await tx.query(sql.REPLACE_OBSERVATIONS, [JSON.stringify(replacing)]);
    await this.reschedule(tx, moves);
    await appendEvents(
      tx,
      moves.flatMap(({ decision }) => decision.events),
    );
  }

  private async record(tx: Transaction, moves: readonly Move[]): Promise<void> {
    const observationIds = await this.keepAnswers(tx, moves);
    await tx.query(sql.MOVE_SESSIONS, [JSON.stringify(moves.map(moveRow))]);
    await insertTransitions(tx, moves, observationIds);
    await writeInverters(tx, moves);
  }

  private async keepAnswers(tx: Transaction, moves: readonly Move[]): Promise<Map<string, string>> {
    const rows = moves.filter(addsAnswer).map(answerRow);
    if (rows.length === 0) return new Map();
    const kept = await tx.query<{ id: string; sessionId: string }>(sql.INSERT_OBSERVATIONS, [
      JSON.stringify(rows),
    ]);
    return new Map(kept.map(({ sessionId, id }) => [sessionId, id]));
  }

  private async reschedule(tx: Transaction, moves: readonly Move[]): Promise<void> {
    const rows = moves.flatMap((move) => {
      const { watch } = move.decision;
      if (watch === null) return [];
      const nextMs = planNextReadMs(
        { ...watch, failures: 0 },
        move.session.now,
        this.settings,
        Math.random(),
      );
      return [pollRow(move, watch, nextMs)];
    });
    const unwatched = moves.filter(({ decision }) => decision.watch === null);
    if (rows.length > 0) await tx.query(polls.RESCHEDULE, [JSON.stringify(rows)]);
    if (unwatched.length > 0) await tx.query(polls.STOP_POLLS, [unwatched.map(({ session }) => session.id)]);
  }
}

async function insertTransitions(
  tx: Transaction,
  moves: readonly Move[],
  observationIds: ReadonlyMap<string, string>,
): Promise<void> {
  const rows = moves.flatMap(({ session: { id, state, now }, decision: { transition } }) =>
    transition === null ? [] : [transitionRow(id, state, transition, observationIds.get(id) ?? null, now)],
  );
  if (rows.length > 0) await tx.query(sql.INSERT_TRANSITIONS, [JSON.stringify(rows)]);
}

async function writeInverters(tx: Transaction, moves: readonly Move[]): Promise<void> {
  const rowsOf = (ids: (decision: Decision) => readonly string[]) =>
    moves.flatMap(({ session, decision }) =>
      ids(decision).map((id) => ({ session_id: session.id, id, at: session.now })),
    );
  const listed = rowsOf((decision) => decision.listed);
  const missing = rowsOf((decision) => decision.missing);
  if (listed.length > 0) await tx.query(sql.UPSERT_INVERTERS, [JSON.stringify(listed)]);
  if (missing.length > 0) await tx.query(sql.MISS_INVERTERS, [JSON.stringify(missing)]);
}

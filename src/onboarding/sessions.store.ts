import { Injectable } from '@nestjs/common';
import { AuditLog } from '../access/audit-log.store.js';
import { appendEvents } from '../events/outbox.js';
import { Cipher } from '../platform/crypto/cipher.js';
import { Database } from '../platform/database/database.js';
import type { Transaction } from '../platform/database/database.js';
import { Environment } from '../platform/env/environment.js';
import { OPEN_STATES } from './machine.js';
import type { FlaggedState, SessionState, Verdict } from './machine.js';
import * as polls from './polls.sql.js';
import type { KeptAnswer } from './read-plan.js';
import { reconcile, startedEvent } from './reconcile.js';
import type { Decision, Reading, SessionRecord } from './reconcile.js';
import { phaseOf, planNextReadMs, scheduleSettings } from './schedule.js';
import type { StartedSession } from './session.client.js';
import * as sql from './sessions.sql.js';
import { startUrlContext } from './start-urls.sql.js';

/** An answer to be applied, under the batch that its session was claimed in. */
export interface BatchReading {
  readonly sessionId: string;
  readonly batchId: string;
  readonly reading: Reading;
  /** Kept when it differs from the answer before; null when there is nothing new to keep. */
  readonly answer: KeptAnswer | null;
}

interface LockedSession extends SessionRecord {
  readonly batchId: string | null;
  readonly now: Date;
}

interface Move {
  readonly session: LockedSession;
  readonly reading: Omit<BatchReading, 'batchId'>;
  readonly decision: Decision;
}

/** Where sessions are written: the only place that changes a state, always with its transition and its events. */
@Injectable()
export class SessionsStore {
  private readonly settings;

  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
    private readonly auditLog: AuditLog,
    environment: Environment,
  ) {
    this.settings = scheduleSettings(environment);
  }

  /**
   * Applies what was read, all in one transaction. A reading whose batch no longer holds its session is stale and changes nothing;
   * answers how many those were.
   */
  async applyReadings(readings: readonly BatchReading[]): Promise<{ readonly stale: number }> {
    const byId = new Map(readings.map((reading) => [reading.sessionId, reading]));
    return this.database.transaction(async (tx) => {
      const locked = await tx.query<LockedSession>(sql.LOCK_SESSIONS, [[...byId.keys()]]);
      const moves = locked
        .filter((session) => session.batchId === byId.get(session.id)!.batchId)
        .map((session): Move => {
          const reading = byId.get(session.id)!;
          return {
            session,
            reading,
            decision: reconcile(session, reading.reading, session.now, this.settings),
          };
        });
      await this.write(tx, moves);
      return { stale: readings.length - moves.length };
    });
  }

  /**
   * Applies what today's rules make of the answers kept. A session whose state is no longer the one that was replayed is left
   * alone; answers how many were changed. `actor` is who said so, for the audit log.
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
    const observationIds = await this.keepAnswers(tx, moves);
    await tx.query(sql.MOVE_SESSIONS, [JSON.stringify(moves.map(moveRow))]);
    await insertTransitions(tx, moves, observationIds);
    await writeInverters(tx, moves);
    await this.reschedule(tx, moves);
    await appendEvents(
      tx,
      moves.flatMap(({ decision }) => decision.events),
    );
  }

  private async keepAnswers(tx: Transaction, moves: readonly Move[]): Promise<Map<string, string>> {
    const rows = moves.flatMap(({ session, reading: { answer } }) =>
      answer === null ? [] : [observationRow(session.id, 'read', answer)],
    );
    if (rows.length === 0) return new Map();
    const kept = await tx.query<{ id: string; sessionId: string }>(sql.INSERT_OBSERVATIONS, [
      JSON.stringify(rows),
    ]);
    return new Map(kept.map(({ sessionId, id }) => [sessionId, id]));
  }

  private async reschedule(tx: Transaction, moves: readonly Move[]): Promise<void> {
    const rows = moves.flatMap(({ session, reading, decision: { watch } }) =>
      watch === null
        ? []
        : [
            {
              session_id: session.id,
              batch_id: session.batchId,
              phase: watch.phase,
              anchor_at: watch.anchorAt,
              hash: reading.answer?.hash ?? null,
              next_ms: planNextReadMs({ ...watch, failures: 0 }, session.now, this.settings, Math.random()),
            },
          ],
    );
    const closed = moves.filter(({ decision }) => decision.close !== null);
    if (rows.length > 0) {
      await tx.query(polls.RESCHEDULE, [JSON.stringify(rows)]);
    }
    if (closed.length > 0) await tx.query(polls.STOP_POLLS, [closed.map(({ session }) => session.id)]);
  }

  /**
   * Records a session that the remote service started, watches it, and makes it the current one of its location and brand. A session
   * that is known already (the remote service answered a second start with the first session) is left as it is.
   */
  async insertStarted(
    tx: Transaction,
    started: StartedSession,
    wanted: { gridLocationId: string; brand: string | null; metadata: Record<string, unknown> },
    verdict: Verdict<FlaggedState>,
  ): Promise<void> {
    await tx.query(sql.SUPERSEDE_SESSIONS, [wanted.gridLocationId, wanted.brand, started.sessionId]);
    const [inserted] = await tx.query<{ now: Date; userId: string; tenantReference: string }>(
      sql.INSERT_SESSION,
      [
        started.sessionId,
        wanted.gridLocationId,
        wanted.brand,
        JSON.stringify(wanted.metadata),
        verdict.state,
        verdict.basis,
        verdict.rule,
        started.finished,
        started.active,
        started.expired,
        OPEN_STATES.includes(verdict.state)
          ? this.cipher.encrypt(started.startUrl, startUrlContext(started.sessionId))
          : null,
        started.createdAt,
        started.updatedAt,
        started.expiresAt,
      ],
    );
    if (inserted === undefined) return;
    const phase = phaseOf(verdict.state);
    await tx.query(polls.WATCH_SESSION, [
      started.sessionId,
      inserted.userId,
      phase,
      this.settings.minIntervalMs,
    ]);
    const observation = observationRow(started.sessionId, 'start', started.answer);
    const [kept] = await tx.query<{ id: string }>(sql.INSERT_OBSERVATIONS, [JSON.stringify([observation])]);
    const transition = {
      session_id: started.sessionId,
      from_state: null,
      to_state: verdict.state,
      basis: verdict.basis,
    };
    await tx.query(sql.INSERT_TRANSITIONS, [
      JSON.stringify([{ ...transition, rule: verdict.rule, observation_id: kept!.id, at: inserted.now }]),
    ]);
    const record: SessionRecord = {
      id: started.sessionId,
      userId: inserted.userId,
      ...wanted,
      tenantReference: inserted.tenantReference,
      ...verdict,
      startedUpdatedAt: started.updatedAt,
      expiresAt: started.expiresAt,
      closedAt: null,
      phase,
      anchorAt: inserted.now,
      inverters: [],
    };
    await appendEvents(tx, [startedEvent(record, inserted.now)]);
  }
}

const observationRow = (sessionId: string, source: 'start' | 'read', answer: KeptAnswer) => ({
  session_id: sessionId,
  source,
  http_status: answer.httpStatus,
  body: answer.body,
  hash: answer.hash,
});

function moveRow({ session, reading: { reading }, decision }: Move) {
  const { state, basis, rule } = decision.transition ?? session;
  const observed = reading.kind === 'observed' ? reading.observation : null;
  return {
    session_id: session.id,
    from_state: session.state,
    to_state: state,
    basis,
    rule,
    observed: observed !== null,
    finished: observed?.finished ?? null,
    active: observed?.active ?? null,
    expired: observed?.expired ?? null,
    updated_at: observed?.updatedAt ?? null,
    expires_at: observed?.expiresAt ?? null,
    close_reason: decision.close,
    at: session.now,
  };
}

async function insertTransitions(
  tx: Transaction,
  moves: readonly Move[],
  observationIds: ReadonlyMap<string, string>,
): Promise<void> {
  const rows = moves.flatMap(({ session, decision: { transition } }) =>
    transition === null
      ? []
      : [
          {
            session_id: session.id,
            from_state: session.state,
            to_state: transition.state,
            basis: transition.basis,
            rule: transition.rule,
            observation_id: observationIds.get(session.id) ?? null,
            at: session.now,
          },
        ],
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

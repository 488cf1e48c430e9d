import { Injectable } from '@nestjs/common';
import { appendEvents } from '../events/outbox.js';
import { Cipher } from '../platform/crypto/cipher.js';
import type { Transaction } from '../platform/database/database.js';
import { Environment } from '../platform/env/environment.js';
import { OPEN_STATES } from './machine.js';
import type { FlaggedState, Verdict } from './machine.js';
import * as polls from './polls.sql.js';
import { startedEvent } from './reconcile.js';
import type { SessionRecord } from './reconcile.js';
import { phaseOf, scheduleSettings } from './schedule.js';
import type { StartedSession } from './session.client.js';
import { observationRow, transitionRow } from './session.rows.js';
import * as sql from './sessions.sql.js';
import { startUrlContext } from './start-urls.sql.js';

/** Where sessions begin; every later state is written by SessionsStore. */
@Injectable()
export class StartedSessionsStore {
  private readonly firstReadMs: number;

  constructor(
    private readonly cipher: Cipher,
    environment: Environment,
  ) {
    this.firstReadMs = scheduleSettings(environment).minIntervalMs;
  }

  /**
   * Records a session that the remote service started, watches it, and makes it the current one of its location and brand. A session
   * that is known already (the remote service answered a second start with the first session) is left as it is.
   */
  async insert(
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
    await tx.query(polls.WATCH_SESSION, [started.sessionId, inserted.userId, phase, this.firstReadMs]);
    const observation = observationRow(started.sessionId, 'start', started.answer);
    const [kept] = await tx.query<{ id: string }>(sql.INSERT_OBSERVATIONS, [JSON.stringify([observation])]);
    const transition = transitionRow(started.sessionId, null, verdict, kept!.id, inserted.now);
    await tx.query(sql.INSERT_TRANSITIONS, [JSON.stringify([transition])]);
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

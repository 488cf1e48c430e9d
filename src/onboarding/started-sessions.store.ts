import { Injectable } from '@nestjs/common';
import { sequenceSoon } from '../events/sequence.sql.js';
import { Cipher } from '../platform/crypto/cipher.js';
import { Database } from '../platform/database/database.js';
import { Environment } from '../platform/env/environment.js';
import { classify, OPEN_STATES } from './machine.js';
import type { FlaggedState, Verdict } from './machine.js';
import { phaseOf, scheduleSettings } from './schedule.js';
import type { SessionRow } from './session-answers.store.js';
import { startedEvent } from './session-events.js';
import type { StartedSession } from './session.client.js';
import { observationRow } from './session.rows.js';
import { startUrlContext } from './start-urls.sql.js';
import { KEEP_STARTED_SESSION } from './started-sessions.sql.js';
import type { HeldStart, WantedSession } from './starts.store.js';

/** Where sessions begin; every later state is written by SessionsStore. */
@Injectable()
export class StartedSessionsStore {
  private readonly firstReadMs: number;

  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
    environment: Environment,
  ) {
    this.firstReadMs = scheduleSettings(environment).minIntervalMs;
  }

  /**
   * The session as it is now recorded; `known` when it had been recorded before. Null, and nothing is changed, when another process has
   * taken the start over, or the user has been erased: the session of this answer has then been counted as an orphan.
   */
  async keep(
    start: HeldStart,
    started: StartedSession,
    wanted: WantedSession,
  ): Promise<SessionRow | 'known' | null> {
    const verdict = classify(started, started.updatedAt);
    const startUrlCiphertext = OPEN_STATES.includes(verdict.state)
      ? this.cipher.encrypt(started.startUrl, startUrlContext(started.sessionId))
      : null;
    const [held] = await this.database.commit<{ startedAt: Date | null }>(
      KEEP_STARTED_SESSION,
      [
        wanted.gridLocationId,
        wanted.brand,
        start.id,
        start.leaseToken,
        started.sessionId,
        JSON.stringify(sessionRow(started, wanted, verdict)),
        startUrlCiphertext,
        JSON.stringify(observationRow(started.sessionId, 'start', started.answer)),
        this.firstReadMs,
        JSON.stringify(eventOf(start, started, wanted, verdict)),
      ],
      sequenceSoon,
    );
    if (held === undefined) return null;
    if (held.startedAt === null) return 'known';
    return {
      ...recordOf(start, started, wanted, verdict),
      finished: started.finished,
      active: started.active,
      expired: started.expired,
      startUrlCiphertext,
      createdAt: started.createdAt,
      updatedAt: started.updatedAt,
      changedAt: held.startedAt,
      checkedAt: held.startedAt,
      nextCheckAt: new Date(held.startedAt.getTime() + this.firstReadMs),
      now: held.startedAt,
    };
  }
}

const sessionRow = (
  started: StartedSession,
  { metadata }: WantedSession,
  verdict: Verdict<FlaggedState>,
) => ({
  metadata,
  ...verdict,
  phase: phaseOf(verdict.state),
  finished: started.finished,
  active: started.active,
  expired: started.expired,
  created_ms: started.createdAt.getTime(),
  updated_ms: started.updatedAt.getTime(),
  expires_ms: started.expiresAt.getTime(),
});

const recordOf = (
  { userId, tenantReference }: HeldStart,
  started: StartedSession,
  { gridLocationId, brand, metadata }: WantedSession,
  { state, basis }: Verdict<FlaggedState>,
) => ({
  id: started.sessionId,
  userId,
  gridLocationId,
  tenantReference,
  brand,
  metadata,
  state,
  basis,
  expiresAt: started.expiresAt,
  closedAt: null,
  inverters: [],
});

/** When it was observed is left to the statement, which has the clock of the database. */
const eventOf = (
  start: HeldStart,
  started: StartedSession,
  wanted: WantedSession,
  verdict: Verdict<FlaggedState>,
) => startedEvent({ ...recordOf(start, started, wanted, verdict), rule: verdict.rule }, new Date());

import { Injectable } from '@nestjs/common';
import { sequenceSoon } from '../events/sequence.sql.js';
import { Cipher } from '../platform/crypto/cipher.js';
import { Database } from '../platform/database/database.js';
import { Environment } from '../platform/env/environment.js';
import { classify, OPEN_STATES } from './machine.js';
import type { FlaggedState, Verdict } from './machine.js';
import { startedEvent } from './reconcile.js';
import { phaseOf, scheduleSettings } from './schedule.js';
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
   * False, and nothing is changed, when another process has taken the start over, or the user has been erased: the session of this
   * answer has then been counted as an orphan.
   */
  async keep(start: HeldStart, started: StartedSession, wanted: WantedSession): Promise<boolean> {
    const verdict = classify(started, started.updatedAt);
    const held = await this.database.commit(
      KEEP_STARTED_SESSION,
      [
        wanted.gridLocationId,
        wanted.brand,
        start.id,
        start.leaseToken,
        started.sessionId,
        JSON.stringify(sessionRow(started, wanted, verdict)),
        OPEN_STATES.includes(verdict.state)
          ? this.cipher.encrypt(started.startUrl, startUrlContext(started.sessionId))
          : null,
        JSON.stringify(observationRow(started.sessionId, 'start', started.answer)),
        this.firstReadMs,
        JSON.stringify(eventOf(start, started, wanted, verdict)),
      ],
      sequenceSoon,
    );
    return held.length > 0;
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

/** When it was observed is left to the statement, which has the clock of the database. */
function eventOf(
  { userId, tenantReference }: HeldStart,
  started: StartedSession,
  { gridLocationId, brand, metadata }: WantedSession,
  verdict: Verdict<FlaggedState>,
) {
  const session = {
    id: started.sessionId,
    userId,
    gridLocationId,
    tenantReference,
    brand,
    metadata,
    ...verdict,
    startedUpdatedAt: started.updatedAt,
    expiresAt: started.expiresAt,
    closedAt: null,
    phase: phaseOf(verdict.state),
    anchorAt: null,
    inverters: [],
  };
  return startedEvent(session, new Date());
}

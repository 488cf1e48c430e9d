import { Injectable } from '@nestjs/common';
import { sequenceSoon } from '../../events/sequence.sql.js';
import { Cipher } from '../../platform/crypto/cipher.js';
import { Database, sqlState } from '../../platform/database/database.js';
import { Environment } from '../../platform/env/environment.js';
import { classify, OPEN_STATES } from '../rules/machine.rules.js';
import type { FlaggedState, Verdict } from '../rules/machine.rules.js';
import { phaseOf, scheduleSettings } from '../rules/schedule.rules.js';
import type { SessionRow } from '../store/session-views.store.js';
import { startedEvent } from '../rules/session-events.rules.js';
import type { StartedSession } from '../remote/session.client.js';
import { observationRow } from '../store/session.rows.js';
import { startUrlContext } from './start-urls.sql.js';
import { KEEP_STARTED_SESSION } from './started-sessions.sql.js';
import type { HeldStart, WantedSession } from './starts.store.js';

/** The returned id already belongs to something else here; nothing was changed. `owner` names what it belongs to, without a value. */
export interface ForeignSession {
  readonly owner: string;
}

/** Writes the initial state of sessions; SessionsStore writes every later state. */
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
   * Records and returns the session. Returns `known` if it was already recorded for the same user, location and brand. Returns null and
   * changes nothing if another process has taken the start over, or if the user has been erased; the session is then already counted as
   * an orphan.
   */
  async keep(
    start: HeldStart,
    started: StartedSession,
    wanted: WantedSession,
  ): Promise<SessionRow | 'known' | ForeignSession | null> {
    const verdict = classify(started, started.updatedAt);
    const startUrlCiphertext = OPEN_STATES.includes(verdict.state)
      ? this.cipher.encrypt(started.startUrl, startUrlContext(started.sessionId))
      : null;
    const held = await this.commit([
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
    ]);
    if (held === undefined) return null;
    if (held.owner !== null) return { owner: held.owner };
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

  private async commit(values: readonly unknown[]): Promise<KeptStart | undefined> {
    const commit = async () =>
      (await this.database.commit<KeptStart>(KEEP_STARTED_SESSION, values, sequenceSoon))[0];
    try {
      return await commit();
    } catch (error) {
      // Another start has received and just committed the same session: now it is known.
      if (isSessionTaken(error as Error)) return commit();
      throw error;
    }
  }
}

interface KeptStart {
  readonly startedAt: Date | null;
  readonly owner: string | null;
}

const UNIQUE_VIOLATION = '23505';

const isSessionTaken = (error: Error & { constraint?: string }): boolean =>
  sqlState(error) === UNIQUE_VIOLATION && error.constraint === 'onboarding_sessions_pkey';

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

/** Returns the event. The statement sets its observedAt by the database's clock. */
const eventOf = (
  start: HeldStart,
  started: StartedSession,
  wanted: WantedSession,
  verdict: Verdict<FlaggedState>,
) => startedEvent({ ...recordOf(start, started, wanted, verdict), rule: verdict.rule }, new Date());

import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { Environment } from '../platform/env/environment.js';
import { classify } from './machine.js';
import type { StartedSession } from './session.client.js';
import { FIND_OPEN_SESSION } from './sessions.sql.js';
import { StartedSessionsStore } from './started-sessions.store.js';
import * as sql from './starts.sql.js';

export interface WantedSession {
  readonly gridLocationId: string;
  readonly brand: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Whether an open session of the same location and brand will do. */
  readonly reuse: boolean;
}

/** A start that this process may send, and nobody else. */
export interface HeldStart {
  readonly id: string;
  readonly leaseToken: string;
  readonly attempts: number;
}

export type BegunStart =
  | { readonly kind: 'begun'; readonly start: HeldStart }
  | { readonly kind: 'open'; readonly sessionId: string }
  | { readonly kind: 'in_flight' }
  /** There is no such location, or its user has been erased. */
  | { readonly kind: 'gone' };

/** A starter saves its answer within this long after the deadline of the call. */
const LEASE_MARGIN_MS = 2_000;

/** The intents to start a session: written and committed before the call. */
@Injectable()
export class StartsStore {
  private readonly leaseMs: number;

  constructor(
    private readonly database: Database,
    private readonly sessions: StartedSessionsStore,
    environment: Environment,
  ) {
    this.leaseMs = environment.SCS_TIMEOUT_MS + LEASE_MARGIN_MS;
  }

  /** Takes the right to start, or says why not. An abandoned start of a process that died is taken over. */
  async begin(wanted: WantedSession): Promise<BegunStart> {
    const place = [wanted.gridLocationId, wanted.brand];
    return this.database.transaction(async (tx) => {
      if ((await tx.query(sql.HOLD_PLACE, [wanted.gridLocationId])).length === 0) return { kind: 'gone' };
      const values = [...place, this.leaseMs];
      const [begun] = await tx.query<HeldStart>(sql.BEGIN_START, values);
      const start = begun ?? (await tx.query<HeldStart>(sql.TAKE_OVER_START, values))[0];
      if (start === undefined) return { kind: 'in_flight' };
      // Looked up while no other start of this place can finish, or a double click could start a second session between the two.
      const [open] = wanted.reuse ? await tx.query<{ id: string }>(FIND_OPEN_SESSION, place) : [];
      if (open === undefined) return { kind: 'begun', start };
      await tx.query(sql.DROP_START, [start.id, start.leaseToken]);
      return { kind: 'open', sessionId: open.id };
    });
  }

  /** Holds the start for a further attempt; false when another process has taken it over. */
  async repeat({ id, leaseToken }: HeldStart, error: string): Promise<boolean> {
    return (await this.database.query(sql.REPEAT_START, [id, leaseToken, error, this.leaseMs])).length > 0;
  }

  /**
   * False when another process has taken the start over, or the user has been erased: the session of this answer has then been
   * counted as an orphan.
   */
  async succeed(
    { id, leaseToken }: HeldStart,
    started: StartedSession,
    wanted: WantedSession,
  ): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      if ((await tx.query(sql.HOLD_PLACE, [wanted.gridLocationId])).length === 0) return false;
      if ((await tx.query(sql.HOLD_START, [id, leaseToken])).length === 0) return false;
      await this.sessions.insert(tx, started, wanted, classify(started, started.updatedAt));
      await tx.query(sql.FINISH_START, [id, leaseToken, 'started', started.sessionId, 0, null]);
      return true;
    });
  }

  /** `orphans`: 1 when the last attempt may have had its effect. */
  async fail({ id, leaseToken }: HeldStart, error: string, orphans: 0 | 1): Promise<void> {
    await this.database.query(sql.FINISH_START, [id, leaseToken, 'failed', null, orphans, error]);
  }
}

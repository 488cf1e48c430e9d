import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { Environment } from '../platform/env/environment.js';
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
  /** Whose location it is. */
  readonly userId: string;
  readonly tenantReference: string;
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
    // Most double clicks end here, before anything is written.
    const open = await this.findOpen(wanted);
    if (open !== null) return { kind: 'open', sessionId: open };
    const values = [wanted.gridLocationId, wanted.brand, this.leaseMs];
    const [place] = await this.database.query<Place & (Lease | { readonly id: null })>(
      sql.BEGIN_START,
      values,
    );
    if (place === undefined) return { kind: 'gone' };
    const lease =
      place.id === null ? (await this.database.query<Lease>(sql.TAKE_OVER_START, values))[0] : place;
    if (lease === undefined) return { kind: 'in_flight' };
    const start = { ...place, ...lease };
    // Looked up again while no other start of this place can finish, or a double click could start a second session between the two.
    const finished = await this.findOpen(wanted).catch(async (error: unknown) => {
      await this.letGo(start).catch(() => {});
      throw error;
    });
    if (finished === null) return { kind: 'begun', start };
    await this.letGo(start);
    return { kind: 'open', sessionId: finished };
  }

  /** Nothing was sent by whoever holds it; by one it was taken over from, perhaps. */
  private async letGo(start: HeldStart): Promise<void> {
    if (start.attempts > 1) await this.fail(start, 'an open session was found before it was sent again', 0);
    else await this.database.query(sql.DROP_START, [start.id, start.leaseToken]);
  }

  /** Holds the start for a further attempt; false when another process has taken it over. */
  async repeat({ id, leaseToken }: HeldStart, error: string): Promise<boolean> {
    return (await this.database.query(sql.REPEAT_START, [id, leaseToken, error, this.leaseMs])).length > 0;
  }

  /**
   * False when another process has taken the start over, or the user has been erased: the session of this answer has then been
   * counted as an orphan.
   */
  succeed(start: HeldStart, started: StartedSession, wanted: WantedSession): Promise<boolean> {
    return this.sessions.keep(start, started, wanted);
  }

  /** `orphans`: 1 when the last attempt may have had its effect. */
  async fail({ id, leaseToken }: HeldStart, error: string, orphans: 0 | 1): Promise<void> {
    await this.database.query(sql.FAIL_START, [id, leaseToken, orphans, error]);
  }

  private async findOpen({ gridLocationId, brand, reuse }: WantedSession): Promise<string | null> {
    if (!reuse) return null;
    const [open] = await this.database.query<{ id: string }>(FIND_OPEN_SESSION, [gridLocationId, brand]);
    return open?.id ?? null;
  }
}

type Place = Pick<HeldStart, 'userId' | 'tenantReference'>;
type Lease = Omit<HeldStart, keyof Place>;

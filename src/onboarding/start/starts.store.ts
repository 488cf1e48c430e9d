import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { takeBack } from '../../platform/database/take-back.js';
import { Environment } from '../../platform/env/environment.js';
import { FIND_OPEN_SESSION } from '../store/sessions.sql.js';
import * as sql from './starts.sql.js';

export interface WantedSession {
  readonly gridLocationId: string;
  readonly brand: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Whether to return an open session of the same location and brand instead. */
  readonly reuse: boolean;
}

/** A start that only this process may send. */
export interface HeldStart {
  readonly id: string;
  readonly leaseToken: string;
  readonly attempts: number;
  /** The user of the location. */
  readonly userId: string;
  readonly tenantReference: string;
}

export type BegunStart =
  | { readonly kind: 'begun'; readonly start: HeldStart }
  | { readonly kind: 'open'; readonly sessionId: string }
  | { readonly kind: 'in_flight' }
  /** The location does not exist, or its user has been erased. */
  | { readonly kind: 'gone' };

/** Time to record the response after the deadline of the call. */
const LEASE_MARGIN_MS = 2_000;

/** Writes the intents to start a session, which are committed before the call. */
@Injectable()
export class StartsStore {
  private readonly leaseMs: number;

  constructor(
    private readonly database: Database,
    environment: Environment,
  ) {
    this.leaseMs = environment.SCS_TIMEOUT_MS + LEASE_MARGIN_MS;
  }

  /** Leases the start to the caller, or returns why not. Takes over an abandoned start of a dead process. */
  async begin(wanted: WantedSession): Promise<BegunStart> {
    // Most double clicks end here, before any write.
    const open = await this.findOpen(wanted);
    if (open !== null) return { kind: 'open', sessionId: open };
    const leaseToken = randomUUID();
    const holder = [wanted.gridLocationId, wanted.brand, leaseToken];
    try {
      const start = await this.hold(wanted, leaseToken);
      if (start === 'gone' || start === 'in_flight') return { kind: start };
      // Check again now that no other start of this location and brand can finish. Otherwise a double click could start a second session
      // between the two checks.
      const finished = await this.findOpen(wanted);
      if (finished === null) return { kind: 'begun', start };
      await this.database.query(sql.LET_GO_START, holder);
      return { kind: 'open', sessionId: finished };
    } catch (error) {
      // Left to its lease, the start would later count as possibly sent.
      void takeBack(this.database, sql.LET_GO_START, holder, this.leaseMs);
      throw error;
    }
  }

  private async hold(
    { gridLocationId, brand }: WantedSession,
    leaseToken: string,
  ): Promise<HeldStart | 'gone' | 'in_flight'> {
    const values = [gridLocationId, brand, this.leaseMs, leaseToken];
    const [place] = await this.database.query<Place & (Begun | { readonly id: null })>(
      sql.BEGIN_START,
      values,
    );
    if (place === undefined) return 'gone';
    const begun =
      place.id === null ? (await this.database.query<Begun>(sql.TAKE_OVER_START, values))[0] : place;
    return begun === undefined ? 'in_flight' : { ...place, ...begun, leaseToken };
  }

  /**
   * Renews the lease of the start for a further attempt. Returns false if another process has taken it over. `sends`: number of calls so
   * far.
   */
  async repeat(start: HeldStart, error: string, sends: number): Promise<boolean> {
    const { id, leaseToken } = start;
    try {
      return (await this.database.query(sql.REPEAT_START, [id, leaseToken, error, this.leaseMs])).length > 0;
    } catch (unavailable) {
      this.failAtLast([id, leaseToken, sends, error]);
      throw unavailable;
    }
  }

  /** Fails the start. `sends`: how many calls may have had their effect; 0 leaves the number counted at repeats and take-overs. */
  async fail({ id, leaseToken }: HeldStart, error: string, sends: number): Promise<void> {
    const values = [id, leaseToken, sends, error];
    try {
      await this.database.query(sql.FAIL_START, values);
    } catch (unavailable) {
      this.failAtLast(values);
      throw unavailable;
    }
  }

  private failAtLast(values: readonly unknown[]): void {
    void takeBack(this.database, sql.FAIL_START, values, this.leaseMs);
  }

  private async findOpen({ gridLocationId, brand, reuse }: WantedSession): Promise<string | null> {
    if (!reuse) return null;
    const [open] = await this.database.query<{ id: string }>(FIND_OPEN_SESSION, [gridLocationId, brand]);
    return open?.id ?? null;
  }
}

type Place = Pick<HeldStart, 'userId' | 'tenantReference'>;
type Begun = Pick<HeldStart, 'id' | 'attempts'>;

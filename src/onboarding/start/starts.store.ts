import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Cipher } from '../../platform/crypto/cipher.js';
import { Database, sqlState, UNIQUE_VIOLATION } from '../../platform/database/database.js';
import { Leases } from '../../platform/database/lease.js';
import { OUTCOME } from '../../platform/database/connection/patience.js';
import { mayBeCommitted, repeatUntilEffective } from '../../platform/database/repeat-until-effective.js';
import { repeatWhileUnavailable } from '../../platform/database/repeat-while-unavailable.js';
import { Environment } from '../../platform/env/environment.js';
import type { StartedSession } from '../remote/session.client.js';
import { NOT_STORED, type StartFailure } from '../rules/start-failure.rules.js';
import { FIND_SESSION_TO_REUSE } from '../store/sessions.sql.js';
import { recordSession } from './record-session.store.js';
import type { LeasedStart, RecordedStart, WantedSession } from './record-session.store.js';
import { runnerOfFailures, type EndedStart } from './failed-starts.store.js';
import * as sql from './starts.sql.js';

type BegunStart =
  | { readonly kind: 'begun'; readonly start: LeasedStart }
  /** An open or online session of this location and brand exists. */
  | { readonly kind: 'exists'; readonly sessionId: string }
  | { readonly kind: 'in_flight' }
  /** The location does not exist, or its user has been erased. */
  | { readonly kind: 'gone' };

/** The time for which the lease outlasts the call, so that the response can be recorded. */
const LEASE_MARGIN_MS = 2_000;

/** Writes the intent to start a session before the call, and then the started session. SessionsStore writes later states. */
@Injectable()
export class StartsStore {
  private readonly leaseMs = this.environment.SCS_TIMEOUT_MS + LEASE_MARGIN_MS;
  /** The leases of the calls. If a lease is lost, the start counts as abandoned. */
  readonly leases = new Leases(this.database, sql.LEASES, { leaseMs: this.leaseMs });
  private readonly failures = runnerOfFailures(this.database);

  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
    private readonly environment: Environment,
  ) {}

  /** Begins a start, leased to the caller, or returns why not. If a dead process has left a start, takes over that start. */
  async begin(wanted: WantedSession): Promise<BegunStart> {
    // Most double clicks end here, before any write.
    const existing = await this.findExisting(wanted);
    if (existing !== null) return { kind: 'exists', sessionId: existing };
    const lease = [wanted.gridLocationId, wanted.brand, randomUUID()];
    let start: LeasedStart | { readonly id: null } | undefined;
    try {
      const values = [...lease, this.leaseMs];
      [start] = await this.database.query<NonNullable<typeof start>>(sql.BEGIN_START, values, OUTCOME);
      if (start === undefined) return { kind: 'gone' };
      if (start.id === null) return { kind: 'in_flight' };
      // Checks again: another start may have finished before this start was inserted. From now on, the unique index allows no other start.
      const finished = await this.findExisting(wanted);
      if (finished === null) return { kind: 'begun', start };
      await this.failures.query(sql.RELEASE_START, lease);
      return { kind: 'exists', sessionId: finished };
    } catch (error) {
      // Releases the start, which was not sent. Otherwise its lease would expire, and the start would count as sent.
      if (start !== undefined || mayBeCommitted(error))
        repeatUntilEffective(this.failures, sql.RELEASE_START, lease, this.leaseMs);
      throw error;
    }
  }

  /** Renews the lease before a retry. `sends`: the number of calls so far. Returns false if another process has taken over the start. */
  async repeat(start: LeasedStart, failure: StartFailure, sends: number): Promise<boolean> {
    const values = [start.id, start.leaseToken, failure.error, this.leaseMs, sends];
    const repeat = () => this.database.query(sql.REPEAT_START, values, OUTCOME);
    const repeated = await this.orFailLater(start, failure, sends, () => repeatWhileUnavailable(repeat, 0));
    return repeated.length > 0;
  }

  /** Marks the start as failed. `sends`: how many calls may have had an effect. If 0, the recorded count of orphans does not change. */
  async fail(start: LeasedStart, failure: StartFailure, sends: number): Promise<void> {
    const values = failValues(start, failure, sends);
    const fail = () => this.failures.query(sql.FAIL_START, values);
    await this.orFailLater(start, failure, sends, () => repeatWhileUnavailable(fail, 0));
  }

  /**
   * Records the session that the remote service returned for a start, and ends the start. Retries for `leaseMs` while the database is
   * unavailable. If it throws, marks the start as failed once the database is back.
   */
  async record(start: LeasedStart, started: StartedSession, wanted: WantedSession): Promise<RecordedStart> {
    const { cipher } = this;
    const settings = { cipher, firstReadMs: this.environment.POLL_MIN_INTERVAL_MS };
    const record = () =>
      this.database.transaction((tx) => recordSession(tx, settings, start, started, wanted), OUTCOME);
    const recordTwice = () =>
      record().catch((error: unknown) => {
        // Another start has just committed a session with this id. Only a new transaction can see that session.
        if (sqlState(error) === UNIQUE_VIOLATION) return record();
        throw error;
      });
    return this.orFailLater(start, NOT_STORED, start.attempts, () =>
      repeatWhileUnavailable(recordTwice, this.leaseMs),
    );
  }

  async findExpiredLeases(): Promise<string[]> {
    return (await this.database.query<{ lease: string }>(sql.FIND_EXPIRED_LEASES)).map(({ lease }) => lease);
  }

  /** Marks starts as failed if their lease is one of `leases` and has expired. Returns their grid locations. */
  async endAbandoned(leases: readonly string[]): Promise<string[]> {
    const ended = await this.failures.query<EndedStart>(sql.END_ABANDONED_STARTS, [leases]);
    return ended.flatMap(({ failed }) => failed?.gridLocationId ?? []);
  }

  /** Runs `write`. If it throws, marks the start as failed once the database is back, and rethrows. */
  private async orFailLater<T>(
    start: LeasedStart,
    failure: StartFailure,
    sends: number,
    write: () => Promise<T>,
  ): Promise<T> {
    try {
      return await write();
    } catch (error) {
      const values = failValues(start, failure, sends);
      repeatUntilEffective(this.failures, sql.FAIL_START, values, this.leaseMs);
      throw error;
    }
  }

  private async findExisting({ gridLocationId, brand, reuse }: WantedSession): Promise<string | null> {
    if (!reuse) return null;
    const place = [gridLocationId, brand];
    return (await this.database.query<{ id: string }>(FIND_SESSION_TO_REUSE, place))[0]?.id ?? null;
  }
}

const failValues = ({ id, leaseToken }: LeasedStart, { error, reason }: StartFailure, sends: number) =>
  [id, leaseToken, sends, error, reason] as const;

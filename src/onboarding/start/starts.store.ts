import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { actingKey, requireActing } from '../../access/acting-caller.js';
import { currentExecution } from '../../access/execution.js';
import { appendEvents } from '../../events/outbox.js';
import { Cipher } from '../../platform/crypto/cipher.js';
import { Database } from '../../platform/database/database.js';
import { Leases } from '../../platform/database/lease.js';
import { OUTCOME, OUTCOME_PATIENCE_MS } from '../../platform/database/connection/patience.js';
import { withoutRefusedRows } from '../../platform/database/refused-rows.js';
import { repeatUntilEffective, undo } from '../../platform/database/repeat-until-effective.js';
import { describeState } from '../../platform/database/sql-state.js';
import { Environment } from '../../platform/env/environment.js';
import type { StartedSession } from '../remote/session.client.js';
import { notStored, waitAfterFailures } from '../rules/start-failure.rules.js';
import type { FailedStarts, StartFailure } from '../rules/start-failure.rules.js';
import { recordSession } from './record-session.store.js';
import type { LeasedStart, RecordedStart, WantedSession } from './record-session.store.js';
import { runnerOfFailures, startFailedEvents, type EndedStart } from './failed-starts.store.js';
import * as sql from './starts.sql.js';

/** Why a start does not begin: an open or online session of the location and brand exists, or earlier starts have left orphans. */
type Hindrance =
  | { readonly kind: 'exists'; readonly sessionId: string }
  /** `error`: why the last of them has failed. */
  | { readonly kind: 'held_back'; readonly error: string; readonly retryAfterMs: number };

/** What may hinder a start. `error`: why the last of the failed starts has failed. */
interface FoundHindrance extends FailedStarts {
  readonly sessionId: string | null;
  readonly error: string | null;
}

/** `id` is null if no start was inserted, `userId` also if the location or its user is gone, or the caller may no longer act. */
type InsertedStart = LeasedStart | { readonly id: null; readonly userId: string | null };

type BegunStart =
  | { readonly kind: 'begun'; readonly start: LeasedStart }
  | Hindrance
  | { readonly kind: 'in_flight' }
  /** The location does not exist, or its user has been erased. */
  | { readonly kind: 'gone' };

/** The database has refused the session. The start is marked as failed, now or later. */
type NotStored = { readonly kind: 'not_stored'; readonly failure: StartFailure };

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
    const lease = [wanted.gridLocationId, wanted.brand, randomUUID()] as const;
    let isBegun = false;
    try {
      const [found, start] = await this.insert(wanted, lease[2]);
      if (start.id === null) {
        const hindrance = hindranceOf(found);
        if (hindrance !== null) return hindrance;
        if (start.userId !== null) return { kind: 'in_flight' };
        await requireActing(this.database);
        return { kind: 'gone' };
      }
      isBegun = true;
      // Checks again: another start may have ended before this start was inserted. From now on, the unique index allows no other start.
      const later = hindranceOf(await this.findHindrance(wanted));
      if (later === null) return { kind: 'begun', start };
      await this.failures.query(sql.RELEASE_START, lease);
      return later;
    } catch (error) {
      // Releases the start, which was not sent. Otherwise its lease would expire, and the start would count as sent.
      if (isBegun) repeatUntilEffective(this.failures, sql.RELEASE_START, lease, this.leaseMs);
      else undo(this.failures, sql.RELEASE_START, lease, error, this.leaseMs);
      throw error;
    }
  }

  /** Inserts the start, unless it is hindered. Inserts it by a second statement if only the wait after failed starts is over. */
  private async insert(wanted: WantedSession, leaseToken: string): Promise<[FoundHindrance, InsertedStart]> {
    const place = placeOf(wanted);
    for (let known = 0; ;) {
      const values = [...place, known, leaseToken, this.leaseMs, actingKey()];
      const rows = await this.database.query<FoundHindrance & InsertedStart>(
        sql.BEGIN_START,
        values,
        OUTCOME,
      );
      const { sessionId, failures, agoMs, error, ...start } = rows[0]!;
      const found = { sessionId, failures, agoMs, error };
      if (start.id !== null || failures <= known || hindranceOf(found) !== null) return [found, start];
      known = failures;
    }
  }

  /** Renews the lease before a retry after `sends` calls. Returns false if another process took over, or the database refused twice. */
  async repeat(start: LeasedStart, failure: StartFailure, sends: number): Promise<boolean> {
    const values = [start.id, start.leaseToken, failure.error, this.leaseMs, sends];
    const repeat = () => this.database.query(sql.REPEAT_START, values, OUTCOME);
    return this.database.outcomes.repeat(repeat, 0).then(
      (repeated) => repeated.length > 0,
      () => false,
    );
  }

  /**
   * Marks the start as failed, in the background if the database refuses twice. `sends`: how many calls may have had an effect. If 0, the
   * recorded count of orphans does not change. Never throws.
   */
  async fail(start: LeasedStart, failure: StartFailure, sends: number): Promise<void> {
    const { id, leaseToken } = start;
    const values = [id, leaseToken, sends, failure.error, failure.reason];
    const fail = () => this.failures.query(sql.FAIL_START, values);
    await this.database.outcomes
      .repeat(fail, 0)
      .catch(() => repeatUntilEffective(this.failures, sql.FAIL_START, values, this.leaseMs));
  }

  /** Records the session that the remote service returned for a start, and ends the start. Repeats after an error. Never throws. */
  async record(
    start: LeasedStart,
    started: StartedSession,
    wanted: WantedSession,
  ): Promise<RecordedStart | NotStored> {
    const { cipher } = this;
    const settings = { cipher, firstReadMs: this.environment.POLL_MIN_INTERVAL_MS };
    const record = () =>
      this.database.transaction((tx) => recordSession(tx, settings, start, started, wanted), OUTCOME);
    try {
      return await this.database.outcomes.repeat(record, OUTCOME_PATIENCE_MS);
    } catch (error) {
      const failure = notStored(describeState(error));
      await this.fail(start, failure, start.attempts);
      return { kind: 'not_stored', failure };
    }
  }

  /** Returns how long the location and brand wait for their next start, in milliseconds; 0 if they do not wait. */
  async findWait(wanted: WantedSession): Promise<number> {
    return waitAfterFailures(await this.findHindrance(wanted));
  }

  async findExpiredLeases(): Promise<string[]> {
    return (await this.database.query<{ lease: string }>(sql.FIND_EXPIRED_LEASES)).map(({ lease }) => lease);
  }

  /** Marks starts as failed if their lease is one of `leases` and has expired. Returns their grid locations. */
  async endAbandoned(leases: readonly string[]): Promise<string[]> {
    const ended = await withoutRefusedRows(
      this.database,
      async (tx, changeRows) => {
        const end = (part: readonly string[]) => tx.query<EndedStart>(sql.END_ABANDONED_STARTS, [part]);
        const failed = await changeRows(leases, end);
        await appendEvents(tx, startFailedEvents(failed));
        return failed;
      },
      OUTCOME,
    );
    return ended.flatMap(({ failed }) => failed?.gridLocationId ?? []);
  }

  private async findHindrance(wanted: WantedSession) {
    return (await this.database.query<FoundHindrance>(sql.FIND_HINDRANCE, placeOf(wanted)))[0]!;
  }
}

/** Has the id of the request, too: if its process dies after the session was started, a repetition finds that session. */
const placeOf = ({ gridLocationId, brand, reuse }: WantedSession) => [
  gridLocationId,
  brand,
  String(reuse),
  currentExecution()?.id,
];

function hindranceOf({ sessionId, error, ...failed }: FoundHindrance): Hindrance | null {
  if (sessionId !== null) return { kind: 'exists', sessionId };
  const retryAfterMs = waitAfterFailures(failed);
  return retryAfterMs > 0 ? { kind: 'held_back', error: error!, retryAfterMs } : null;
}

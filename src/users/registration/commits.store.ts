import { randomUUID } from 'node:crypto';
import type { NewEvent } from '../../events/catalogue.rules.js';
import { sequenceSoon } from '../../events/sequence.sql.js';
import {
  sqlState,
  type Database,
  type Statement,
  type Transaction,
} from '../../platform/database/database.js';
import { Gathering } from '../../platform/database/gathering.js';
import { takeBack } from '../../platform/database/take-back.js';
import { isDatabaseUnavailable } from '../../platform/problem/database-unavailable.js';
import * as sql from './registrations.sql.js';
import type { Claim, RegistrationRequest } from './registration.rules.js';
import type { RemoteUser } from '../remote/remote-user.rules.js';
import { toConfirmedUser } from '../user/users.sql.js';
import { toStoredRecord, type StoredUser, type UserRecord } from '../user/users.store.js';

/** Maximum size of one statement, which then takes some milliseconds. Few more callers than this wait at one time. */
const MOST_AT_ONCE = 100;

/** The user that a call returned. */
export interface Confirmation {
  readonly claim: Claim;
  readonly user: RemoteUser;
}

/**
 * Commits the two writes of every registration: its intent before the call, and its user after it. Writes of concurrent requests are
 * committed together, since most of the cost of a commit is the same for one as for fifty. With 64 concurrent requests, a registration
 * costs 0.3 statements and commits instead of 2.2, and a third of PostgreSQL's CPU.
 */
export class RegistrationCommits {
  private readonly intents: Gathering<RegistrationRequest, Claim | null>;
  private readonly confirmations: Gathering<Confirmation, UserRecord | null>;

  constructor(
    private readonly database: Database,
    private readonly leaseMs: number,
  ) {
    this.intents = new Gathering<RegistrationRequest, Claim | null>(
      {
        together: (requests) => this.openIntents(requests),
        alone: async (request) => (await this.openIntents([request]))[0] ?? null,
        mayBeOfOne,
      },
      MOST_AT_ONCE,
    );
    this.confirmations = new Gathering<Confirmation, UserRecord | null>(
      {
        together: (confirmations) => this.confirmAll(sql.CONFIRM_OUTCOMES, confirmations),
        alone: async (confirmation) =>
          (await this.confirmAll(sql.CONFIRM_OUTCOME, [confirmation]))[0] ?? null,
        mayBeOfOne,
      },
      MOST_AT_ONCE,
    );
  }

  /** Commits the intent, leased to the caller. Returns null if the reference already has a live registration. */
  openIntent(request: RegistrationRequest): Promise<Claim | null> {
    return this.intents.add(request);
  }

  /**
   * Commits the user, the registration and the event. Returns null and changes nothing if the claim has been superseded (see
   * `takesOutcome`).
   */
  confirm(claim: Claim, user: RemoteUser): Promise<UserRecord | null> {
    return this.confirmations.add({ claim, user });
  }

  /** Does the same within a transaction that has locked the registration. */
  async confirmLocked(tx: Transaction, registrationId: string, user: RemoteUser): Promise<void> {
    await tx.query(sql.CONFIRM_LOCKED, [
      JSON.stringify([{ nth: 0, registrationId, ...toConfirmedUser(user) }]),
      eventsOf([user]),
    ]);
    tx.afterCommit(sequenceSoon);
  }

  private async openIntents(requests: readonly RegistrationRequest[]): Promise<(Claim | null)[]> {
    const intents = requests.map((request) => ({ ...request, id: randomUUID() }));
    const values = [this.leaseMs, JSON.stringify(intents.toSorted(byReference))];
    const opened = await this.database
      .query<Pick<Claim, 'id' | 'leaseToken'>>(sql.OPEN_INTENTS, values)
      .catch((error: unknown) => {
        // Nothing was sent for these intents, but once their lease has expired nobody could know that.
        if (mayBeCommitted(error))
          void takeBack(this.database, sql.GIVE_BACK_INTENTS, [intents.map(({ id }) => id)], this.leaseMs);
        throw error;
      });
    const leaseTokens = new Map(opened.map(({ id, leaseToken }) => [id, leaseToken]));
    return intents.map((intent) => {
      const leaseToken = leaseTokens.get(intent.id);
      return leaseToken === undefined ? null : { ...intent, attempts: 1, leaseToken };
    });
  }

  private async confirmAll(
    statement: Statement,
    confirmations: readonly Confirmation[],
  ): Promise<(UserRecord | undefined)[]> {
    const taken = firstOfEachUser(confirmations);
    const rows = taken.map(({ nth, claim, user }) => {
      const { id: registrationId, attempts, leaseToken } = claim;
      return { nth, registrationId, attempts, leaseToken, ...toConfirmedUser(user) };
    });
    const values = [JSON.stringify(rows), eventsOf(taken.map(({ user }) => user))];
    const stored = await this.database.commit<StoredUser & { nth: number }>(statement, values, sequenceSoon);
    const records: (UserRecord | undefined)[] = confirmations.map(() => undefined);
    for (const row of stored) records[row.nth] = toStoredRecord(confirmations[row.nth]!.user, row);
    return records;
  }
}

/**
 * Returns the first confirmation of each user. An event is appended with the user that it is about: if a second call returned the same
 * user, its event would be appended as well.
 */
function firstOfEachUser(
  confirmations: readonly Confirmation[],
): readonly (Confirmation & { readonly nth: number })[] {
  const seen = new Set<string>();
  return confirmations
    .map((confirmation, nth) => ({ ...confirmation, nth }))
    .filter(({ user }) => !seen.has(user.id) && seen.add(user.id));
}

/**
 * Returns whether a failure may come from a single item: the same row twice (21), bad data (22), a violated constraint (23), a deadlock
 * (40), a lock timeout (55P03) or a statement timeout (57014).
 */
const mayBeOfOne = (error: unknown): boolean => /^(2[1-3]|40)|^55P03$|^57014$/.test(sqlState(error) ?? '');

/**
 * Returns whether the outcome of a statement is unknown. What PostgreSQL refuses is not committed, unless its connection is lost (08) or
 * terminated (57P).
 */
const mayBeCommitted = (error: unknown): boolean =>
  isDatabaseUnavailable(error) && /^(08|57P|$)/.test(sqlState(error) ?? '');

const byReference = (one: RegistrationRequest, other: RegistrationRequest): number =>
  Number(one.tenantReference > other.tenantReference) - Number(one.tenantReference < other.tenantReference);

const eventsOf = (users: readonly RemoteUser[]): string =>
  JSON.stringify(
    users.map(({ id, tenantReference, gridLocations }): NewEvent => {
      const gridLocationIds = gridLocations.map((location) => location.id);
      return { name: 'user.registered', subject: id, data: { userId: id, tenantReference, gridLocationIds } };
    }),
  );

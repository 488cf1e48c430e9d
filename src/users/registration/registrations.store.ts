import { Injectable } from '@nestjs/common';
import type { NewEvent } from '../../events/catalogue.rules.js';
import { appendEvents } from '../../events/outbox.js';
import { Database, sqlState, type Sql, type Transaction } from '../../platform/database/database.js';
import type { Prisma } from '../../platform/database/generated/client.js';
import type { FieldError } from '../../platform/problem/problem.js';
import { findUnaskedEans, pathsOf } from './foreign-ids.rules.js';
import { selectForeignIds } from './foreign-ids.sql.js';
import type { Metadata } from '../metadata.rules.js';
import { RegistrationCommits } from './commits.store.js';
import {
  withForeignIds,
  type Claim,
  type RegistrationRequest,
  type RegistrationStatus,
  type Verdict,
} from './registration.rules.js';
import * as sql from './registrations.sql.js';
import type { AskedUser, RemoteUser } from '../remote/remote-user.rules.js';
import type { ListPosition, UserRecord } from '../user/users.store.js';

export interface RegistrationRecord extends RegistrationRequest {
  readonly id: string;
  readonly status: RegistrationStatus;
  readonly userId: string | null;
  readonly attempts: number;
  readonly lastError: string | null;
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** A call is in flight, or its sender died and the registration is not yet `uncertain`. */
  readonly isBeingSent: boolean;
  readonly isDue: boolean;
}

/** What became of the registration. Differs from the verdict if the user turns out to have ids of another user. */
export type Settled =
  | { readonly status: 'registered'; readonly user: UserRecord }
  | { readonly status: 'rejected' | 'pending' }
  | {
      readonly status: 'uncertain';
      /** The fields of the response that belong to another user here, such as `gridLocations[].id`. */
      readonly foreignIds?: readonly string[];
    };

export type ListedRegistration = Omit<RegistrationRecord, 'isBeingSent' | 'isDue'>;

export interface RegistrationFilter {
  readonly status?: RegistrationStatus;
  readonly tenantReference?: string;
}

/**
 * 10 s. A sender renews four times as often: three renewals may fail before a live sender is presumed dead, and a dead sender is detected
 * within 11 s. Independent of SCS_TIMEOUT_MS, since a call may first have to wait for its turn and for a token.
 */
export const LEASE_MS = 10_000;
export const LEASE_RENEWAL_MS = LEASE_MS / 4;

/** Thrown to roll the transaction back if a confirmed id belongs to another user here. */
export class IdentityTaken extends Error {
  /** `fields` may be empty: a unique index does not name them. */
  constructor(readonly fields: readonly FieldError[] = []) {
    super('a confirmed id belongs to another user here');
  }
}

const ABANDONED = 'the sender was lost during the call, so nobody knows whether it had its effect';

@Injectable()
export class RegistrationsStore {
  private readonly commits: RegistrationCommits;

  constructor(private readonly database: Database) {
    this.commits = new RegistrationCommits(database, LEASE_MS);
  }

  /** Commits the intent, leased to the caller. Returns null if the reference already has a live registration. */
  async openIntent(request: RegistrationRequest): Promise<Claim | null> {
    return this.commits.openIntent(request);
  }

  /** Claims the registration. Returns null if it is not due or is already claimed. */
  async claimOne(id: string): Promise<Claim | null> {
    const [claim] = await this.database.query<Claim>(sql.CLAIM_ONE, [LEASE_MS, id]);
    return claim ?? null;
  }

  /** Claims at most `limit` due registrations, the longest overdue first. */
  async claimDue(limit: number): Promise<Claim[]> {
    return this.database.query<Claim>(sql.CLAIM_DUE, [LEASE_MS, limit]);
  }

  async extendLease({ id, leaseToken }: Claim): Promise<void> {
    await this.database.query(sql.EXTEND_LEASE, [LEASE_MS, id, leaseToken]);
  }

  /**
   * Stores the outcome of the claimed call, with its event. Returns null and changes nothing if the claim has been superseded. May be
   * repeated if it is unknown whether the first attempt committed.
   */
  async settle(claim: Claim, verdict: Verdict): Promise<Settled | null> {
    if (verdict.status !== 'registered')
      return this.database.transaction((tx) => this.apply(tx, claim, verdict));
    try {
      // Two users may have the same EAN, so no index rejects one that was not requested.
      if (findUnaskedEans(verdict.user, claim).length > 0)
        await this.refuseForeignIds(this.database, verdict.user, claim);
      const user = await this.commits.confirm(claim, verdict.user).catch(giveUpIfTaken);
      return user && { status: 'registered', user };
    } catch (error) {
      if (!(error instanceof IdentityTaken)) throw error;
      const foreignIds = pathsOf(await selectForeignIds(this.database, verdict.user, claim));
      const settled = await this.settle(claim, withForeignIds(foreignIds));
      return settled && { status: 'uncertain', foreignIds };
    }
  }

  private async refuseForeignIds(sql: Sql, user: RemoteUser, asked: AskedUser): Promise<void> {
    const fields = await selectForeignIds(sql, user, asked);
    if (fields.length > 0) throw new IdentityTaken(fields);
  }

  private async apply(
    tx: Transaction,
    claim: Claim,
    verdict: Exclude<Verdict, { status: 'registered' }>,
  ): Promise<Settled | null> {
    if (verdict.status === 'uncertain') {
      const moved = await tx.query(sql.MOVE_TO_UNCERTAIN, [claim.id, claim.leaseToken, verdict.lastError]);
      if (moved.length === 0) return null;
      await appendEvents(tx, [failure('user.registration_uncertain', claim, verdict.reason)]);
      return { status: 'uncertain' };
    }
    const locked = await tx.query(sql.LOCK_FOR_OUTCOME, [claim.id, claim.attempts, claim.leaseToken]);
    if (locked.length === 0) return null;
    switch (verdict.status) {
      case 'rejected':
        await tx.query(sql.MOVE_TO_REJECTED, [claim.id, verdict.lastError]);
        await appendEvents(tx, [failure('user.registration_rejected', claim, verdict.reason)]);
        return { status: 'rejected' };
      case 'pending':
        await tx.query(sql.MOVE_TO_PENDING, [claim.id, verdict.lastError, verdict.nextAttemptInMs]);
        return { status: 'pending' };
    }
  }

  /**
   * Inserts the confirmed user and makes the locked registration `registered`, with the event. Throws IdentityTaken, so that the
   * transaction is rolled back.
   */
  async confirm(tx: Transaction, registration: RegistrationRecord, user: RemoteUser): Promise<void> {
    await this.refuseForeignIds(tx, user, registration);
    await this.commits.confirmLocked(tx, registration.id, user).catch(giveUpIfTaken);
  }

  /** Makes registrations `uncertain` whose sender died during its call. Returns how many. */
  async moveAbandonedToUncertain(limit: number): Promise<number> {
    return this.database.transaction(async (tx) => {
      const moved = await tx.query<Pick<Claim, 'id' | 'tenantReference'>>(sql.MOVE_ABANDONED_TO_UNCERTAIN, [
        limit,
        ABANDONED,
      ]);
      await appendEvents(
        tx,
        moved.map((registration) => failure('user.registration_uncertain', registration, ABANDONED)),
      );
      return moved.length;
    });
  }

  async findRegistration(id: string): Promise<RegistrationRecord | null> {
    const [found] = await this.database.query<RegistrationRecord>(sql.FIND_REGISTRATION, [id]);
    return found ?? null;
  }

  /** Returns the registration that prevents the reference from being registered anew: pending, registered or uncertain. */
  async findLive(tenantReference: string): Promise<RegistrationRecord | null> {
    const [found] = await this.database.query<RegistrationRecord>(sql.FIND_LIVE_REGISTRATION, [
      tenantReference,
    ]);
    return found ?? null;
  }

  /** Returns at most `limit` registrations after `position`, newest first. */
  async listRegistrations(
    filter: RegistrationFilter,
    position: ListPosition | undefined,
    limit: number,
  ): Promise<ListedRegistration[]> {
    const where: Prisma.RegistrationWhereInput = {
      ...(filter.status !== undefined && { status: filter.status }),
      ...(filter.tenantReference !== undefined && { tenantReference: filter.tenantReference }),
      ...(position !== undefined && {
        // Implied by the OR, in a form that lets the index scan start at the position.
        createdAt: { lte: position.at },
        OR: [{ createdAt: { lt: position.at } }, { id: { lt: position.id } }],
      }),
    };
    const orderBy = [{ createdAt: 'desc' }, { id: 'desc' }] as const;
    const rows = await this.database.prisma.registration.findMany({
      where,
      orderBy: [...orderBy],
      take: limit,
    });
    // Prisma does not know what the CHECKs and the writers in this file guarantee: the status is one of ours, the metadata an object.
    return rows.map((row) => ({
      ...row,
      status: row.status as RegistrationStatus,
      metadata: row.metadata as Metadata,
    }));
  }
}

const UNIQUE_VIOLATION = '23505';
const NOT_NULL_VIOLATION = '23502';

/**
 * Throws IdentityTaken if a constraint of users or grid locations was violated, else the error itself. A registration that becomes live
 * may violate an index of its own table, which is another conflict.
 */
function giveUpIfTaken(error: Error & { table?: string; column?: string }): never {
  const state = sqlState(error);
  const isOfUser = error.table === 'users' || error.table === 'grid_locations';
  const isTaken = state === UNIQUE_VIOLATION || (state === NOT_NULL_VIOLATION && error.column === 'id');
  throw isOfUser && isTaken ? new IdentityTaken() : error;
}

const failure = (
  name: 'user.registration_rejected' | 'user.registration_uncertain',
  { id, tenantReference }: Pick<Claim, 'id' | 'tenantReference'>,
  reason: string,
): NewEvent => ({ name, subject: id, data: { registrationId: id, tenantReference, reason } });

import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { actingKey, requireActing } from '../../access/acting-caller.js';
import { sequenceBeforeRead } from '../../events/sequence.sql.js';
import { Database, type Statement, type Transaction } from '../../platform/database/database.js';
import type { Registration } from '../../platform/database/generated/client.js';
import { Leases } from '../../platform/database/lease.js';
import { OUTCOME, OUTCOME_PATIENCE_MS } from '../../platform/database/connection/patience.js';
import { isRefusal, withoutRefusedRows } from '../../platform/database/refused-rows.js';
import { undo } from '../../platform/database/repeat-until-effective.js';
import type { Page } from '../../platform/http/page.js';
import type { StoredStall } from '../../stalls/stall-views.service.js';
import type { Metadata } from '../metadata.rules.js';
import { appendOutcomes, confirmUser, moveRegistration } from './confirm-user.store.js';
import { planOutcome, unstored } from './registration.rules.js';
import type { CalledRegistration, Claim, RegistrationRequest } from './registration.rules.js';
import type { RegistrationStatus, Settlement } from './registration.rules.js';
import { REGISTRATIONS, type RegistrationsQuery } from './registrations.list.js';
import * as sql from './registrations.sql.js';
import { insertIfUnchecked } from './unchecked-references.store.js';

type Unread = 'leaseToken' | 'leaseUntil' | 'sentAt';

export interface RegistrationRecord extends Readonly<Omit<Registration, 'metadata' | Unread>> {
  readonly status: RegistrationStatus;
  readonly metadata: Metadata;
  /** The sequence of its last event, not padded. Null if no event has a sequence yet. */
  readonly sequence: string | null;
  /** Whether a call is in flight, or was in flight when its sender died. */
  readonly isBeingSent: boolean;
  readonly isDue: boolean;
  readonly stalled: StoredStall | null;
}

/** A sender renews its lease every 2.5 s: three renewals may fail, and a dead sender is detected within 11 s. */
// The lease does not depend on SCS_TIMEOUT_MS, since a call may first wait in the call queue and for a token.
export const LEASE_MS = 10_000;
/** How long a sender tries to return a claim that may be committed although its statement failed. Most database outages are shorter. */
const RETURN_WITHIN_MS = 300_000;

const ABANDONED = 'the sender was lost during the call, so nobody knows whether it had its effect';

@Injectable()
export class RegistrationsStore {
  /** The leases of the calls. If a lease is lost, the registration becomes `uncertain`, but a late response can still settle it. */
  readonly leases = new Leases(this.database, sql.LEASES, { leaseMs: LEASE_MS });

  constructor(private readonly database: Database) {}

  /** Inserts the intent, leased to the sender. Returns null if one is live, it is inserted as uncertain, or the caller may not act. */
  async openIntent(request: RegistrationRequest): Promise<Claim | null> {
    const { tenantReference, eans, metadata } = request;
    const [claim] = await this.claim(sql.OPEN_INTENT, [tenantReference, eans, metadata, actingKey()]);
    if (claim === undefined) await insertIfUnchecked(this.database, request);
    return claim ?? null;
  }

  /** Throws Problem unauthenticated if the caller of the request may no longer act. */
  requireActing(): Promise<void> {
    return requireActing(this.database);
  }

  /** Claims the registration. Returns null if it is not due, is already claimed, or the caller of the request may no longer act. */
  async claimOne(id: string): Promise<Claim | null> {
    return (await this.claim(sql.CLAIM_ONE, [id, actingKey()]))[0] ?? null;
  }

  async claimDue(limit: number): Promise<Claim[]> {
    try {
      return await this.claim(sql.CLAIM_DUE, [limit]);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return this.undoIfLost((lease) => this.claimDueButRefused(lease, limit));
    }
  }

  private claimDueButRefused(lease: string, limit: number): Promise<Claim[]> {
    return withoutRefusedRows(
      this.database,
      async (tx, changeRows, spare) => {
        const due = await tx.query<{ id: string }>(sql.LOCK_DUE, [limit + spare]);
        const ids = due.map(({ id }) => id);
        const claim = (part: readonly string[]) => tx.query<Claim>(sql.CLAIM_LOCKED, [LEASE_MS, lease, part]);
        return changeRows(ids, claim, limit);
      },
      OUTCOME,
    );
  }

  private async claim(statement: string | Statement, values: readonly unknown[]): Promise<Claim[]> {
    return this.undoIfLost((lease) =>
      this.database.query<Claim>(statement, [LEASE_MS, lease, ...values], OUTCOME),
    );
  }

  private async undoIfLost(claim: (lease: string) => Promise<Claim[]>): Promise<Claim[]> {
    const lease = randomUUID();
    try {
      return await claim(lease);
    } catch (error) {
      // The claim may be committed, but nothing was sent. Makes its registrations due again; otherwise they would become `uncertain`.
      undo(this.database, sql.RETURN_CLAIM, [lease], error, RETURN_WITHIN_MS);
      throw error;
    }
  }

  /** Stores the outcome of a call and its event. Repeats after an error, for `withinMs`. `stale`: a newer call or a decision came first. */
  settle(claim: Claim, settlement: Settlement, withinMs = OUTCOME_PATIENCE_MS) {
    const store = (tx: Transaction) => storeOutcome(tx, claim, settlement);
    return this.database.outcomes.repeat(() => this.database.transaction(store, OUTCOME), withinMs);
  }

  async findLeases(): Promise<string[]> {
    return (await this.database.query<{ lease: string }>(sql.FIND_LEASES)).map(({ lease }) => lease);
  }

  /** Makes registrations `uncertain` if their lease is one of `leases` and has expired. Returns their ids. */
  async moveAbandonedToUncertain(leases: readonly string[]): Promise<string[]> {
    return withoutRefusedRows(this.database, async (tx, changeRows) => {
      const abandoned = await tx.query<{ id: string }>(sql.LOCK_ABANDONED, [leases]);
      const ids = abandoned.map(({ id }) => id);
      const moved = await changeRows(ids, (part) =>
        tx.query<Claim>(sql.MOVE_TO_UNCERTAIN, [ABANDONED, part]),
      );
      await appendOutcomes(tx, 'uncertain', moved, ABANDONED);
      return moved.map(({ id }) => id);
    });
  }

  async findRegistration(id: string): Promise<RegistrationRecord | null> {
    return (await this.database.query<RegistrationRecord>(sql.FIND_REGISTRATION, [id]))[0] ?? null;
  }

  /** Assigns sequences, then finds the registration. Its `sequence` is that of its last event, unless the database is overloaded. */
  async findSequenced(id: string): Promise<RegistrationRecord | null> {
    await sequenceBeforeRead(this.database);
    return this.findRegistration(id);
  }

  /** Returns the live registration of the reference: pending, registered or uncertain. It prevents a new registration. */
  async findLive(reference: string): Promise<RegistrationRecord | null> {
    return (await this.database.query<RegistrationRecord>(sql.FIND_LIVE, [reference]))[0] ?? null;
  }

  /**
   * Returns for each of these EANs how many other references have it, as a user or in a live registration, without the EANs that no other
   * reference has. `alike`: how many other live references look like this one.
   */
  async countOthers(eans: readonly string[], tenantReference: string) {
    const values = [tenantReference, eans];
    const rows = await this.database.query<{ ean: string | null; others: number }>(sql.COUNT_OTHERS, values);
    const others = new Map(rows.flatMap(({ ean, others: count }) => (ean === null ? [] : [[ean, count]])));
    return { others, alike: rows.find(({ ean }) => ean === null)?.others ?? 0 };
  }

  listRegistrations(query: RegistrationsQuery): Promise<Page<RegistrationRecord>> {
    return REGISTRATIONS.page(this.database, query);
  }
}

async function storeOutcome(tx: Transaction, claim: Claim, settlement: Settlement) {
  const fence = [claim.id, claim.attempts, claim.leaseToken];
  const [called] = await tx.query<CalledRegistration>(sql.LOCK_FOR_OUTCOME, fence);
  const plan = planOutcome(called, settlement);
  if (plan === 'stale' && settlement.status === 'registered')
    await tx.query(sql.NOTE_LATE, [claim.id, unstored(settlement, 'a decision came first').lastError]);
  if (plan !== 'write') return plan;
  if (settlement.status === 'registered') return confirmUser(tx, claim, settlement.user);
  await moveRegistration(tx, claim, settlement);
  return 'stored' as const;
}

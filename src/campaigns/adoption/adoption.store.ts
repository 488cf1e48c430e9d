import { Injectable } from '@nestjs/common';
import { appendEvents } from '../../events/outbox.js';
import { classify, type Observation } from '../../onboarding/rules/machine.rules.js';
import { startedEvent } from '../../onboarding/rules/session-events.rules.js';
import { insertSession, type LockedSession } from '../../onboarding/start/record-session.store.js';
import { LOCK_CURRENT_AND_KNOWN, LOCK_PLACE } from '../../onboarding/start/starts.sql.js';
import { OUTCOME } from '../../platform/database/connection/patience.js';
import { Database, type Transaction } from '../../platform/database/database.js';
import type { Metadata } from '../../users/metadata.rules.js';
import { confirmUser } from '../../users/registration/confirm-user.store.js';
import type { RowProblem } from '../campaign.rules.js';
import { restoredUser, type AdoptedSession, type Adoption } from './adoption.rules.js';
import * as sql from './adoption.sql.js';

export interface RowToAdopt {
  readonly line: number;
  readonly tenantReference: string;
  readonly metadata: Metadata;
  readonly adoption: Adoption;
}

/** The result of a row before its sessions are adopted. */
interface AdoptedRow {
  readonly status: 'registered' | 'known';
  readonly registrationId: string;
}

/** A session that exists at the remote service, with the location and brand that the tenant gives. */
export interface SessionToAdopt extends AdoptedSession {
  readonly userId: string;
  readonly tenantReference: string;
}

export type SeenSession = Observation & { readonly createdAt: Date; readonly expiresAt: Date };

/** `gone`: the user has been erased. `foreign`: the id already belongs to another object in our database. */
type RecordedAdoption = 'recorded' | 'gone' | 'foreign';

@Injectable()
export class AdoptionStore {
  constructor(private readonly database: Database) {}

  /** `refused`: the lines to leave out. */
  findNext(id: string, leaseToken: string, limit: number, refused: number[]): Promise<RowToAdopt[]> {
    return this.database.query(sql.FIND_NEXT, [id, leaseToken, limit, refused]);
  }

  /** Stores the user of a row. Returns `invalid` if it contradicts our database, null if it cannot be stored now. May be repeated. */
  adoptUser(id: string, leaseToken: string, row: RowToAdopt): Promise<AdoptedRow | 'invalid' | null> {
    // The second run finds an id that another transaction has just stored.
    const run = () => this.database.transaction((tx) => adopt(tx, id, leaseToken, row), OUTCOME);
    return this.database.outcomes.repeat(run, 0);
  }

  /** Records a session that has just been read. May be repeated. */
  recordSession(session: SessionToAdopt, seen: SeenSession): Promise<RecordedAdoption> {
    return this.database.transaction((tx) => recordSession(tx, session, seen), OUTCOME);
  }

  /** Gives the row its result. Returns false if it has been cancelled. */
  async end(
    id: string,
    { line, adoption }: RowToAdopt,
    status: AdoptedRow['status'],
    registrationId: string,
    problems: readonly RowProblem[],
  ): Promise<boolean> {
    const values = [id, line, status, registrationId, adoption.user.id, JSON.stringify(problems)];
    return (await this.database.query(sql.END_ROW, values, OUTCOME)).length > 0;
  }
}

/** Checks the rows of a file to adopt: compares them with each other and with our database. */
export async function checkAdoption(tx: Transaction, id: string, isDryRun: boolean): Promise<void> {
  await tx.query(sql.MARK_REPEATED, [id]);
  await tx.query(sql.MARK_CONTRADICTIONS, [id, null]);
  await tx.query(sql.MARK_SHARED_IDS, [id]);
  if (isDryRun) await tx.query(sql.MARK_KNOWN, [id]);
}

/**
 * Stores a user that already exists at the remote service, with its registration, which may be an earlier one of this user. Makes no remote
 * call. Returns null if the row is cancelled or the lease lost, if the reference has any other live registration, or if references are
 * unchecked after a restore. Throws if another user has taken an id of the user since the comparison with our database.
 */
async function adopt(
  tx: Transaction,
  id: string,
  leaseToken: string,
  { line, tenantReference, metadata, adoption }: RowToAdopt,
): Promise<AdoptedRow | 'invalid' | null> {
  if ((await tx.query(sql.LOCK_ROW, [id, leaseToken, line])).length === 0) return null;
  if ((await tx.query(sql.MARK_CONTRADICTIONS, [id, [line]])).length > 0) return 'invalid';
  const user = restoredUser(adoption.user);
  const eans = user.gridLocations.map(({ ean }) => ean);
  const values = [tenantReference, eans, metadata, id];
  const [inserted] = await tx.query<{ id: string }>(sql.INSERT_TO_CONFIRM, values);
  if (inserted === undefined)
    return (await tx.query<AdoptedRow>(sql.FIND_REGISTERED, [tenantReference, user.id, id]))[0] ?? null;
  const confirmed = await confirmUser(tx, { id: inserted.id, tenantReference, eans, metadata }, user);
  if ('foreignFields' in confirmed) throw new Error('another user has just taken an id of the user');
  return { status: 'registered', registrationId: inserted.id };
}

async function recordSession(
  tx: Transaction,
  session: SessionToAdopt,
  { createdAt, expiresAt }: SeenSession,
): Promise<RecordedAdoption> {
  const { id, userId, tenantReference, gridLocationId, brand } = session;
  const values = [gridLocationId, userId, id];
  const [place] = await tx.query<{ now: Date; isSubject: boolean }>(LOCK_PLACE, values);
  if (place === undefined) return 'gone';
  const { now, isSubject } = place;
  const locked = await tx.query<LockedSession>(LOCK_CURRENT_AND_KNOWN, [gridLocationId, brand, id]);
  const known = locked.find((each) => each.id === id);
  if (known !== undefined) {
    const isSame =
      known.userId === userId && known.gridLocationId === gridLocationId && known.brand === brand;
    return isSame ? 'recorded' : 'foreign';
  }
  if (isSubject) return 'foreign';
  // Inserts the session in its state at the start. It is due at once, so the poller finds its current state and its inverters, with their
  // events. If the location and brand already have a current session in our database, that session stays the current one.
  const asStarted = {
    finished: false,
    active: true,
    expired: null,
    inverters: [],
    createdAt,
    updatedAt: createdAt,
    expiresAt,
  };
  const inserted = { id, userId, gridLocationId, brand, metadata: {}, ...classify(asStarted) };
  const supersededAt = locked.length > 0 ? now : null;
  await insertSession(tx, { ...inserted, startUrlCiphertext: null, supersededAt }, asStarted, {
    dueAt: now,
    now,
  });
  await appendEvents(tx, [startedEvent({ ...inserted, tenantReference }, now)]);
  return 'recorded';
}

import { Injectable } from '@nestjs/common';
import { OUTCOME } from '../../platform/database/connection/patience.js';
import { Database, type Transaction } from '../../platform/database/database.js';
import type { Metadata } from '../../users/metadata.rules.js';
import { confirmUser } from '../../users/registration/confirm-user.store.js';
import type { RegistrationRequest } from '../../users/registration/registration.rules.js';
import type { RemoteUser } from '../../users/remote/remote-user.rules.js';
import type { RowProblem } from '../campaign.rules.js';
import { restoredUser, type Adoption } from './adoption.rules.js';
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
  const adopted = await adoptUser(tx, { tenantReference, eans, metadata }, user, id);
  if (adopted === null) return null;
  const { registrationId, campaignId } = adopted;
  return { status: campaignId === id ? 'registered' : 'known', registrationId };
}

interface AdoptedUser {
  readonly registrationId: string;
  /** The campaign that has registered the user. Null: none has. */
  readonly campaignId: string | null;
}

/**
 * Stores a user that already exists at the remote service, with its registration. Makes no remote call. Returns the registration, which may
 * be an earlier one of this user. Returns null if the reference has any other live registration, or if references are unchecked after a
 * restore. The caller has compared the ids of the user with our database: throws if another user has taken one since then.
 */
async function adoptUser(
  tx: Transaction,
  request: RegistrationRequest,
  user: RemoteUser,
  campaignId: string,
): Promise<AdoptedUser | null> {
  const { tenantReference, eans, metadata } = request;
  const values = [tenantReference, eans, metadata, campaignId];
  const [inserted] = await tx.query<{ id: string }>(sql.INSERT_TO_CONFIRM, values);
  if (inserted === undefined)
    return (await tx.query<AdoptedUser>(sql.FIND_REGISTERED, [tenantReference, user.id]))[0] ?? null;
  const confirmed = await confirmUser(tx, { ...request, id: inserted.id }, user);
  if ('foreignFields' in confirmed) throw new Error('another user has just taken an id of the user');
  return { registrationId: inserted.id, campaignId };
}

import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, type Sql, type Transaction } from '../../platform/database/database.js';
import { appendOutcomes } from './confirm-user.store.js';
import type { Claim, RegistrationRequest } from './registration.rules.js';
import * as sql from './registrations.sql.js';

const RESTORED = 'a backup was restored, so nobody knows whether this reference was registered after it';

/** References that may have been registered between a backup and its restore. A person decides about each of them. */
@Injectable()
export class UncheckedReferencesStore {
  /** False once a query has found no unchecked restore. It then stays false: a restore is confirmed only while the service is stopped. */
  private mayBeUnchecked = true;

  constructor(private readonly database: Database) {}

  /** If references are unchecked, inserts the registration as `uncertain` without sending it. Returns whether they are unchecked. */
  async insertIfUnchecked({ tenantReference, eans, metadata }: RegistrationRequest): Promise<boolean> {
    const where = { referencesCheckedAt: null };
    this.mayBeUnchecked &&= (await this.database.prisma.restore.count({ where })) > 0;
    if (!this.mayBeUnchecked) return false;
    await this.database.transaction(async (tx) => {
      const values = [randomUUID(), tenantReference, eans, metadata, RESTORED];
      const inserted = await tx.query<Claim>(sql.INSERT_UNCERTAIN, values);
      await appendOutcomes(tx, 'uncertain', inserted, RESTORED);
    });
    return true;
  }
}

export async function movePendingToUncertain(tx: Transaction): Promise<number> {
  const moved = await tx.query<Claim>(sql.MOVE_PENDING_TO_UNCERTAIN, [RESTORED]);
  await appendOutcomes(tx, 'uncertain', moved, RESTORED);
  return moved.length;
}

/** Confirms that everything registered after the backup was found. Returns false if there is no restore with unchecked references. */
export const confirmReferences = async (via: Sql): Promise<boolean> =>
  (await via.query(sql.CONFIRM_REFERENCES)).length > 0;

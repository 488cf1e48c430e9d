import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { recordAudit } from '../../access/audit-log.store.js';
import type { ErasedCounts } from '../../events/catalogue.rules.js';
import { lockRows } from '../../campaigns/erase-rows.sql.js';
import { appendEvents } from '../../events/outbox.js';
import { Cipher } from '../../platform/crypto/cipher.js';
import { Database, type Transaction } from '../../platform/database/database.js';
import { OUTCOME } from '../../platform/database/connection/patience.js';
import { ERASED_REFERENCE } from '../../users/user/erase-user.sql.js';
import { findPerson, PERSONAL_DATA } from '../personal-data.js';

// `isBeingSent`: whether a call is in flight. That call may create a user at the remote service that our database does not know.
export const LOCK_REGISTRATIONS = `
    SELECT id, coalesce(lease_until >= clock_timestamp(), false) AS "isBeingSent" FROM registrations
    WHERE tenant_reference = $1 ORDER BY id FOR UPDATE`;

// A start locks its user FOR KEY SHARE. Only FOR UPDATE conflicts with that lock.
export const LOCK_USER = 'SELECT id FROM users WHERE tenant_reference = $1 FOR UPDATE';

/** A completed erasure, with the number of rows erased per kind. */
export interface Erasure {
  readonly id: string;
  readonly userId: string | null;
  readonly erasedAt: Date;
  readonly erased: ErasedCounts;
}

/** Nothing was erased, because a registration is in flight: its response may contain the id of a remote user that is not recorded yet. */
export interface BeingSent {
  readonly registrationBeingSent: string;
}

/** Erases a person in one transaction: all tables of PERSONAL_DATA. Both methods return null if there is nobody to erase. */
@Injectable()
export class ErasuresStore {
  readonly parts = PERSONAL_DATA;

  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
  ) {}

  /** Erases a user. Returns the existing erasure if the user has been erased before. */
  async eraseUser(userId: string, actor: string): Promise<Erasure | BeingSent | null> {
    return this.write(async (tx, id) => {
      const user = await tx.prisma.user.findUnique({ where: { id: userId } });
      const person = user?.tenantReference ? await lock(tx, user.tenantReference) : null;
      // During the wait for the lock, another transaction may have erased the user, and the reference may belong to a new user.
      return person?.userId === userId ? this.erase(tx, id, person, actor) : findErasure(tx, { userId });
    });
  }

  /** Erases the person who has this reference now, even if the person has only registrations or rows of campaigns. */
  async eraseReference(tenantReference: string, actor: string): Promise<Erasure | BeingSent | null> {
    return this.write(async (tx, id) => {
      const person = await lock(tx, tenantReference);
      // The erasure exists if an earlier try has committed, but the response to its commit was lost.
      const erasure = await findErasure(tx, { id });
      if (erasure !== null) return erasure;
      const isKnown = person.userId !== null || person.registrations.length > 0 || person.hasRows;
      return isKnown ? this.erase(tx, id, person, actor) : null;
    });
  }

  /** Runs `work` in a transaction. After an error, tries again with the same `id`. */
  private write<T>(work: (tx: Transaction, id: string) => Promise<T>): Promise<T> {
    const id = randomUUID();
    const erase = () => this.database.transaction((tx) => work(tx, id), OUTCOME);
    return this.database.outcomes.repeat(erase, 0);
  }

  private async erase(tx: Transaction, id: string, person: Locked, actor: string) {
    const sent = person.registrations.find(({ isBeingSent }) => isBeingSent);
    if (sent !== undefined) return { registrationBeingSent: sent.id };
    // Reads the clock after the person is locked, so that `erasedAt` is later than every row committed during the wait for the lock.
    const [read] = await tx.query<{ now: Date; folded: string }>(
      'SELECT clock_timestamp() AS now, reference_fold($1) AS folded',
      [person.tenantReference],
    );
    const erasedAt = read!.now;
    const referenceHash = this.cipher.hash(read!.folded, ERASED_REFERENCE);
    const { userId, tenantReference } = person;
    const registrationIds = person.registrations.map(({ id }) => id);
    const found = await findPerson(tx, { userId, tenantReference, registrationIds });
    const counts = new Map<string, number>();
    const steps: (() => Promise<void>)[] = [];
    const erasing = { at: erasedAt, later: (step: () => Promise<void>) => void steps.push(step) };
    for (const { table, erase } of this.parts) counts.set(table, await erase(tx, found, erasing));
    const count = (table: string) => counts.get(table) ?? 0;
    const erased = {
      gridLocations: count('grid_locations'),
      registrations: count('registrations'),
      sessions: count('onboarding_sessions'),
      observations: count('session_observations'),
      inverters: count('inverters'),
      consents: count('consents'),
      events: count('domain_events'),
    };
    await tx.prisma.erasure.create({ data: { id, userId, erasedAt, referenceHash, ...erased } });
    const data = { erasureId: id, userId, registrationIds, erasedAt: erasedAt.toISOString(), erased };
    for (const step of steps) await step();
    await appendEvents(tx, [{ name: 'user.erased', subject: userId ?? id, data }]);
    await recordAudit(tx, { actor, action: 'user.erased', target: userId ?? id, details: erased });
    return { id, userId, erasedAt, erased };
  }
}

type Locked = Awaited<ReturnType<typeof lock>>;

/**
 * Locks the rows of campaigns, the registrations and the user of a reference. A worker and a confirmation lock in the same order. So they
 * cannot deadlock, and a user that was just confirmed is found.
 */
// Until the commit, no other transaction can register, resolve or start anything for the person. `userId` is null if there is no user.
async function lock(tx: Transaction, tenantReference: string) {
  const hasRows = await lockRows(tx, tenantReference);
  const registrations = await tx.query<{ id: string; isBeingSent: boolean }>(LOCK_REGISTRATIONS, [
    tenantReference,
  ]);
  const [user] = await tx.query<{ id: string }>(LOCK_USER, [tenantReference]);
  return { tenantReference, hasRows, userId: user?.id ?? null, registrations };
}

async function findErasure(tx: Transaction, where: { id: string } | { userId: string }) {
  const erasure = await tx.prisma.erasure.findUnique({ where, omit: { referenceHash: true } });
  if (erasure === null) return null;
  const { id, erasedAt, userId, ...erased } = erasure;
  return { id, userId, erasedAt, erased };
}

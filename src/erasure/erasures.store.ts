import { Injectable } from '@nestjs/common';
import { AuditLog } from '../access/audit-log.store.js';
import type { ErasedCounts } from '../events/catalogue.rules.js';
import { eraseEvents } from '../events/erase-events.sql.js';
import { appendEvents } from '../events/outbox.js';
import { eraseSessions, type ErasedSessions } from '../onboarding/store/erase-sessions.sql.js';
import { Database, type Transaction } from '../platform/database/database.js';
import { Problem } from '../platform/problem/problem.js';
import { eraseUser, findReference, holdPerson, type HeldPerson } from '../users/user/erase-user.sql.js';
import { FIND_ERASURE, INSERT_ERASURE, NOW } from './erasures.sql.js';

/** Whose data were erased, and how much, in numbers. */
export interface Erasure {
  readonly id: string;
  readonly userId: string | null;
  readonly erasedAt: Date;
  readonly erased: ErasedCounts;
}

const NO_SESSIONS: ErasedSessions = { sessionIds: [], observations: 0, inverters: 0, events: [] };

/**
 * Erases a person: every module clears its own tables, in one transaction, with the events that announce it. Both methods throw Problem
 * not_found, or registration_conflict while a registration of the person is being sent.
 */
@Injectable()
export class ErasuresStore {
  constructor(
    private readonly database: Database,
    private readonly auditLog: AuditLog,
  ) {}

  /** Erases a user. Repeatable: an erased user returns the same receipt, whatever has happened to its reference since. */
  async eraseUser(userId: string, actor: string): Promise<Erasure> {
    return this.database.transaction(async (tx) => {
      const reference = await findReference(tx, userId);
      if (reference === undefined) throw new Problem('not_found', `There is no user ${userId}`);
      const person = reference === null ? null : await holdPerson(tx, reference);
      // Another request may have erased the user while this one waited, and the reference may have been registered again.
      return person?.userId === userId ? this.erase(tx, person, actor) : getErasure(tx, userId);
    });
  }

  /** Erases the person who has this reference now, even if none of the registrations has become a user. */
  async eraseReference(tenantReference: string, actor: string): Promise<Erasure> {
    return this.database.transaction(async (tx) => {
      const person = await holdPerson(tx, tenantReference);
      if (person.userId === null && person.registrations.length === 0)
        throw new Problem('not_found', 'There is no user and no registration with this tenantReference');
      return this.erase(tx, person, actor);
    });
  }

  private async erase(tx: Transaction, person: HeldPerson, actor: string): Promise<Erasure> {
    refuseWhileSent(person);
    const [clock] = await tx.query<{ now: Date }>(NOW);
    const erasedAt = clock!.now;
    const { userId } = person;
    const registrationIds = person.registrations.map(({ id }) => id);
    const sessions = userId === null ? NO_SESSIONS : await eraseSessions(tx, userId, erasedAt);
    const { registrations, gridLocations } = await eraseUser(tx, person, erasedAt);
    const people = [...(userId === null ? [] : [userId]), ...registrationIds];
    const erased = {
      gridLocations,
      registrations,
      sessions: sessions.sessionIds.length,
      observations: sessions.observations,
      inverters: sessions.inverters,
      events: await eraseEvents(tx, { people, sessions: sessions.sessionIds }),
    };
    await this.auditLog.eraseRequestIds(tx, [...people, ...sessions.sessionIds]);
    const id = await insertErasure(tx, userId, erasedAt, erased);
    const data = { erasureId: id, userId, registrationIds, erasedAt: erasedAt.toISOString(), erased };
    await appendEvents(tx, [...sessions.events, { name: 'user.erased', subject: userId ?? id, data }]);
    await this.auditLog.record(tx, { actor, action: 'user.erased', target: userId ?? id, details: erased });
    return { id, userId, erasedAt, erased };
  }
}

function refuseWhileSent({ registrations }: HeldPerson): void {
  const sent = registrations.find(({ isBeingSent }) => isBeingSent);
  if (sent === undefined) return;
  // The response of that request would name a remote user that nothing else here refers to.
  throw new Problem(
    'registration_conflict',
    `Registration ${sent.id} is being sent at the moment; erase once its answer is known`,
  );
}

async function insertErasure(
  tx: Transaction,
  userId: string | null,
  erasedAt: Date,
  { gridLocations, registrations, sessions, observations, inverters, events }: ErasedCounts,
): Promise<string> {
  const counts = [gridLocations, registrations, sessions, observations, inverters, events];
  const [inserted] = await tx.query<{ id: string }>(INSERT_ERASURE, [userId, erasedAt, ...counts]);
  return inserted!.id;
}

async function getErasure(tx: Transaction, userId: string): Promise<Erasure> {
  const [erasure] = await tx.query<Erasure>(FIND_ERASURE, [userId]);
  if (erasure === undefined) throw new Problem('not_found', `There is no user ${userId}`);
  return erasure;
}

import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isExecuted, recordAudit } from '../access/audit-log.store.js';
import { currentExecution } from '../access/execution.js';
import { Database } from '../platform/database/database.js';
import { sqlState, UNIQUE_VIOLATION } from '../platform/database/sql-state.js';
import { OUTCOME } from '../platform/database/connection/patience.js';
import type { RemoteUser } from '../users/remote/remote-user.rules.js';
import {
  confirmUser,
  moveRegistration,
  type IdentityTaken,
} from '../users/registration/confirm-user.store.js';
import type { RegistrationStatus } from '../users/registration/registration.rules.js';
import { SELECT_REGISTRATION } from '../users/registration/registrations.sql.js';
import type { RegistrationRecord } from '../users/registration/registrations.store.js';
import { DECIDABLE, type PersonDecision } from './decision.rules.js';

export const LOCK_REGISTRATION = `${SELECT_REGISTRATION} WHERE id = $1 FOR UPDATE OF registrations`;

/** The result of a decision. Anything but `decided` means that nothing has changed. */
export type Decided =
  | { readonly status: 'decided' }
  | { readonly status: 'not_found' }
  | { readonly status: 'being_sent' | 'reference_taken' | 'changed' }
  | { readonly status: 'wrong_status'; readonly current: RegistrationStatus }
  | ({ readonly status: 'identity_taken' } & IdentityTaken);

interface Decision {
  readonly id: string;
  readonly actor: string;
  readonly decision: PersonDecision;
  /** The user that the provider confirmed; only for `resolve`. */
  readonly user?: RemoteUser;
  /** A registration that has changed at or after this instant is left as it is. */
  readonly unchangedSince?: Date;
}

/** A retried registration is due at once, so that a worker sends it. */
const SETTLEMENTS = {
  retry: { status: 'pending', reason: 'a person decided to send it again', nextAttemptInMs: 0 },
  discard: { status: 'discarded', reason: 'a person gave it up' },
} as const;

const AUDIT_ACTION = {
  retry: 'registration.retried',
  discard: 'registration.discarded',
  resolve: 'registration.resolved',
};

@Injectable()
export class DecisionsStore {
  constructor(private readonly database: Database) {}

  /** Whether the user is stored with all these grid locations. */
  async hasLocations({ id, gridLocations }: RemoteUser): Promise<boolean> {
    const theirs = gridLocations.map((location) => ({ id: location.id, ean: location.ean }));
    const where = { userId: id, OR: theirs };
    return (await this.database.prisma.gridLocation.count({ where })) === theirs.length;
  }

  /** Applies a person's decision, with its audit entry and event, in one transaction. */
  async decide({ id, actor, decision, user, unchangedSince }: Decision): Promise<Decided> {
    const executionId = currentExecution()?.id ?? randomUUID();
    const decide = () =>
      this.database.transaction(async (tx): Promise<Decided> => {
        const [registration] = await tx.query<RegistrationRecord>(LOCK_REGISTRATION, [id]);
        if (registration === undefined) return { status: 'not_found' };
        // An earlier try has committed, but the response to its commit was lost, or its process died before it stored the outcome.
        if (await isExecuted(tx, id, executionId)) return { status: 'decided' };
        const { status, attempts, lastError, isBeingSent, updatedAt } = registration;
        if (isBeingSent) return { status: 'being_sent' };
        if (!DECIDABLE[decision].includes(status)) return { status: 'wrong_status', current: status };
        if (unchangedSince !== undefined && updatedAt >= unchangedSince) return { status: 'changed' };
        if (decision === 'resolve') {
          const confirmed = await confirmUser(tx, registration, user!);
          if ('foreignFields' in confirmed) return { status: 'identity_taken', ...confirmed };
        } else await moveRegistration(tx, registration, { ...SETTLEMENTS[decision], lastError });
        const details = { executionId, decision, status, attempts };
        await recordAudit(tx, { actor, action: AUDIT_ACTION[decision], target: id, details });
        return { status: 'decided' };
      }, OUTCOME);
    try {
      // The second run finds an id or a decision that another transaction, or a lost COMMIT of the first run, has just stored.
      return await this.database.outcomes.repeat(decide, 0);
    } catch (error) {
      // The decision would make the registration live again, but the reference has been registered anew.
      if (sqlState(error) === UNIQUE_VIOLATION) return { status: 'reference_taken' };
      throw error;
    }
  }
}

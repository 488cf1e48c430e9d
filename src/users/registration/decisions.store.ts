import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../access/audit-log.store.js';
import { Database, sqlState, type Transaction } from '../../platform/database/database.js';
import { Problem } from '../../platform/problem/problem.js';
import { DECIDABLE, type PersonDecision } from './registration.rules.js';
import { LOCK_REGISTRATION, MOVE_BY_DISCARD, MOVE_BY_RETRY } from './registrations.sql.js';
import { IdentityTaken, RegistrationsStore, type RegistrationRecord } from './registrations.store.js';
import type { RemoteUser } from '../remote/remote-user.rules.js';

const UNIQUE_VIOLATION = '23505';

/**
 * Applies a person's decision about a registration. The decision, its audit entry and its event, if any, commit together. Every method
 * throws Problem not_found, or registration_conflict if the registration's status does not allow the decision.
 */
@Injectable()
export class RegistrationDecisionsStore {
  constructor(
    private readonly database: Database,
    private readonly registrations: RegistrationsStore,
    private readonly auditLog: AuditLog,
  ) {}

  /** Makes the registration due at once; a worker sends it. */
  async retry(id: string, actor: string): Promise<void> {
    await this.decide(id, actor, 'retry', async (tx) => void (await tx.query(MOVE_BY_RETRY, [id])));
  }

  async discard(id: string, actor: string): Promise<void> {
    await this.decide(id, actor, 'discard', async (tx) => void (await tx.query(MOVE_BY_DISCARD, [id])));
  }

  /** Registers the user that the person entered. `readUser` checks the entry against the registration and throws if it does not match. */
  async resolve(
    id: string,
    actor: string,
    readUser: (registration: RegistrationRecord) => RemoteUser,
  ): Promise<void> {
    await this.decide(id, actor, 'resolve', async (tx, registration) => {
      await this.registrations.confirm(tx, registration, readUser(registration));
    });
  }

  private async decide(
    id: string,
    actor: string,
    decision: PersonDecision,
    move: (tx: Transaction, registration: RegistrationRecord) => Promise<void>,
  ): Promise<void> {
    try {
      await this.database.transaction(async (tx) => {
        const [registration] = await tx.query<RegistrationRecord>(LOCK_REGISTRATION, [id]);
        if (registration === undefined) throw new Problem('not_found', `There is no registration ${id}`);
        refuseUnlessDecidable(registration, decision);
        await move(tx, registration);
        const details = { decision, status: registration.status, attempts: registration.attempts };
        await this.auditLog.record(tx, { actor, action: AUDIT_ACTION[decision], target: id, details });
      });
    } catch (error) {
      if (error instanceof IdentityTaken) {
        throw new Problem(
          'registration_conflict',
          'The id, the tenantReference or a grid location belongs to another user here',
          error.fields.length > 0 ? { errors: error.fields } : {},
        );
      }
      // Leaving rejected or discarded makes a registration live again, but meanwhile the reference may have been registered anew.
      if (sqlState(error) === UNIQUE_VIOLATION) {
        throw new Problem(
          'registration_conflict',
          'The tenantReference has another registration that is live',
        );
      }
      throw error;
    }
  }
}

const AUDIT_ACTION: Record<PersonDecision, string> = {
  retry: 'registration.retried',
  discard: 'registration.discarded',
  resolve: 'registration.resolved',
};

function refuseUnlessDecidable({ status, isBeingSent }: RegistrationRecord, decision: PersonDecision): void {
  if (isBeingSent) {
    throw new Problem(
      'registration_conflict',
      'The registration is being sent at the moment; decide once its answer is known',
    );
  }
  if (!DECIDABLE[decision].includes(status)) {
    const allowed = DECIDABLE[decision].join(', ');
    throw new Problem(
      'registration_conflict',
      `${decision} is for the statuses ${allowed}; this registration is ${status}`,
    );
  }
}

import type { Database } from '../../../../src/platform/database/database.js';
import type { SandboxLedger } from '../../../setup/sandbox/sandbox-control.js';

export interface RegistrationRow {
  readonly id: string;
  readonly tenantReference: string;
  readonly status: string;
  readonly userId: string | null;
  readonly updatedAt: Date;
}

export const readRegistrations = (database: Database): Promise<RegistrationRow[]> =>
  database.query<RegistrationRow>(
    `SELECT id, tenant_reference AS "tenantReference", status, user_id AS "userId", updated_at AS "updatedAt" FROM registrations`,
  );

/** Returns the contradictions between our rows and the ledger of the remote service. */
export function contradictions(
  references: readonly string[],
  ledger: SandboxLedger,
  rows: readonly RegistrationRow[],
): string[] {
  return references.flatMap((reference) => {
    const effects = ledger.users.filter(({ tenantReference }) => tenantReference === reference);
    const registrations = rows.filter(({ tenantReference }) => tenantReference === reference);
    const [registration] = registrations;
    if (registrations.length !== 1 || registration === undefined) {
      return [`${reference}: ${registrations.length} registrations, ${effects.length} effects`];
    }
    const { status, userId } = registration;
    const found = [];
    if (effects.length > 1) found.push(`${reference}: ${effects.length} effects`);
    if (status === 'rejected' && effects.length > 0)
      found.push(`${reference}: rejected, but there is a user`);
    if (status === 'pending' && effects.length > 0)
      found.push(`${reference}: to be sent again, but there is a user`);
    if (status === 'registered' && effects[0]?.userId !== userId) {
      found.push(`${reference}: registered as ${userId}, but the user is ${effects[0]?.userId}`);
    }
    return found;
  });
}

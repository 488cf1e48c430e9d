import type { Transaction } from '../../platform/database/database.js';
import type { RegistrationRequest } from './registration.rules.js';
import { FIND_LIVE_OF, INSERT_PENDING } from './registrations.sql.js';

export interface LiveRegistration {
  readonly id: string;
  readonly tenantReference: string;
  readonly eans: readonly string[];
}

/**
 * Inserts the registrations of a campaign, which a worker sends after the commit. Returns the live registrations of their references,
 * inserted or earlier. A reference has none if references are unchecked after a restore, or if its registration has just ended.
 */
export async function insertPending(
  tx: Transaction,
  requests: readonly RegistrationRequest[],
  campaignId: string,
): Promise<LiveRegistration[]> {
  await tx.query(INSERT_PENDING, [JSON.stringify(requests), campaignId]);
  return tx.query<LiveRegistration>(FIND_LIVE_OF, [requests.map(({ tenantReference }) => tenantReference)]);
}

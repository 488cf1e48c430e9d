import type { Transaction } from '../../platform/database/database.js';
import type { RemoteUser } from '../remote/remote-user.rules.js';
import { confirmUser } from './confirm-user.store.js';
import type { RegistrationRequest } from './registration.rules.js';
import * as sql from './registrations.sql.js';

export interface LiveRegistration {
  readonly id: string;
  readonly tenantReference: string;
  readonly eans: readonly string[];
}

/**
 * Inserts the registrations of a campaign; a worker sends them after the commit. Returns the live registrations of the references,
 * earlier ones included. A reference has none if references are unchecked after a restore, or if its registration has just ended.
 */
export async function insertPending(
  tx: Transaction,
  requests: readonly RegistrationRequest[],
  campaignId: string,
): Promise<LiveRegistration[]> {
  await tx.query(sql.INSERT_PENDING, [JSON.stringify(requests), campaignId]);
  return tx.query(sql.FIND_LIVE_OF, [requests.map(({ tenantReference }) => tenantReference)]);
}

/**
 * Deletes those of the pending registrations `ids` of a campaign that have not been sent. Nobody but the campaign knows of them: no event
 * names them, and a request for the same reference would have sent them. `release` returns those that nothing else waits for.
 */
export async function withdrawUnsent(
  tx: Transaction,
  campaignId: string,
  ids: readonly string[],
  release: (unsent: readonly string[]) => Promise<readonly string[]>,
): Promise<void> {
  const unsent = await tx.query<{ id: string }>(sql.LOCK_UNSENT, [campaignId, ids]);
  if (unsent.length === 0) return;
  await tx.query(sql.DELETE_UNSENT, [await release(unsent.map(({ id }) => id))]);
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
export async function adoptUser(
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

import { appendEvents } from '../../events/outbox.js';
import { sqlState, UNIQUE_VIOLATION } from '../../platform/database/database.js';
import type { Sql, Statement, Transaction } from '../../platform/database/database.js';
import type { RequestedUser, RemoteUser } from '../remote/remote-user.rules.js';
import { insertUser } from '../user/users.store.js';
import type { RegistrationRequest, RegistrationStatus } from './registration.rules.js';
import { MOVE_REGISTRATION } from './registrations.sql.js';

/** Nothing was stored: these fields of the user, such as `gridLocations[0].id`, belong to another user here. */
export interface IdentityTaken {
  readonly foreignFields: readonly string[];
}

/** Runs a transaction with `confirmUser`, and again if another one has inserted the same id meanwhile: the second run finds that id. */
export const repeatOnConflict = <T>(run: () => Promise<T>): Promise<T> =>
  run().catch((error: unknown) => {
    if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
    return run();
  });

/** Inserts the confirmed user, makes the locked registration `registered`, and appends the event. */
export async function confirmUser(
  tx: Transaction,
  registration: RegistrationRequest & { readonly id: string },
  user: RemoteUser,
): Promise<'stored' | IdentityTaken> {
  const foreignFields = await findForeignFields(tx, user, registration);
  if (foreignFields.length > 0) return { foreignFields };
  await insertUser(tx, user, registration.metadata);
  await moveRegistration(tx, registration.id, { status: 'registered', userId: user.id });
  const { id: userId, tenantReference, gridLocations } = user;
  const gridLocationIds = gridLocations.map(({ id }) => id);
  const { id: registrationId, metadata } = registration;
  const data = { userId, registrationId, tenantReference, metadata, gridLocationIds };
  await appendEvents(tx, [{ name: 'user.registered', subject: userId, data }]);
  return 'stored';
}

type Announced = Pick<RegistrationRequest, 'tenantReference' | 'metadata'> & { readonly id: string };

/** Appends the event of each registration for its new status. For `pending`, see `appendPending`. */
export const appendOutcomes = (
  tx: Transaction,
  status: Exclude<RegistrationStatus, 'registered'>,
  registrations: readonly Announced[],
  reason: string,
): Promise<void> =>
  appendEvents(
    tx,
    registrations.map(({ id, tenantReference, metadata }) => ({
      name: `user.registration_${status}`,
      subject: id,
      data: { registrationId: id, tenantReference, metadata, reason },
    })),
  );

/**
 * Appends `user.registration_pending` for a locked registration. Appends nothing if that is already its last event, because each attempt in
 * an outage would repeat it.
 */
export async function appendPending(tx: Transaction, registration: Announced, reason: string): Promise<void> {
  const last = await tx.prisma.domainEvent.findFirst({
    where: { subject: registration.id },
    orderBy: { position: 'desc' },
    select: { name: true },
  });
  if (last?.name !== 'user.registration_pending') await appendOutcomes(tx, 'pending', [registration], reason);
}

export async function moveRegistration(
  tx: Transaction,
  id: string,
  to: { status: RegistrationStatus; userId?: string; lastError?: string | null; nextAttemptInMs?: number },
): Promise<void> {
  await tx.query(MOVE_REGISTRATION, [id, to.status, to.userId, to.lastError, to.nextAttemptInMs]);
}

/** Returns the fields of a remote user whose value already belongs to another user here, or to another object, such as a session. */
async function findForeignFields(
  runner: Sql,
  { id: userId, gridLocations }: RemoteUser,
  { tenantReference, eans }: RequestedUser,
): Promise<string[]> {
  const ids = gridLocations.map(({ id }) => id);
  // A requested EAN may belong to several users, since people move house. So EANs have no unique index.
  const unrequested = gridLocations.flatMap(({ ean }) => (eans.includes(ean) ? [] : [ean]));
  const values = [tenantReference, userId, ids, unrequested];
  const [others] = await runner.query<{ userId: boolean; gridLocationIds: string[]; eans: string[] }>(
    SELECT_IDS_OF_OTHERS,
    values,
  );
  return [
    ...(others!.userId ? ['id'] : []),
    ...gridLocations.flatMap(({ id, ean }, index) => [
      ...(others!.gridLocationIds.includes(id) ? [`gridLocations[${index}].id`] : []),
      ...(others!.eans.includes(ean) ? [`gridLocations[${index}].ean`] : []),
    ]),
  ];
}

/** Checks the user id $2, the grid location ids $3 and the EANs $4. Selects those that belong to a user with another reference than $1. */
// An erased user has no reference, but still owns its ids. An id that is already the subject of events, such as a session id, also counts as
// taken. Otherwise two people would share one history, and the erasure of one person would erase both.
const SELECT_IDS_OF_OTHERS: Statement = {
  name: 'users.select_ids_of_others',
  text: `
    SELECT coalesce((SELECT tenant_reference IS DISTINCT FROM $1 FROM users WHERE id = $2),
        EXISTS (SELECT FROM domain_events WHERE subject = $2::text)) AS "userId",
      ARRAY(SELECT g.id::text FROM grid_locations g JOIN users u ON u.id = g.user_id
             WHERE g.id = ANY($3::uuid[]) AND u.tenant_reference IS DISTINCT FROM $1) AS "gridLocationIds",
      ARRAY(SELECT g.ean FROM grid_locations g JOIN users u ON u.id = g.user_id
             WHERE g.ean = ANY($4::text[]) AND u.tenant_reference IS DISTINCT FROM $1) AS eans`,
};

import { appendEvents } from '../../events/outbox.js';
import { prepared, type Transaction } from '../../platform/database/database.js';
import type { UserRecord } from '../user/user.view.js';
import { userColumns } from '../user/users.list.js';
import type { RemoteUser } from '../remote/remote-user.rules.js';
import type { RegistrationRequest, RegistrationStatus, Settlement } from './registration.rules.js';
import { MOVE_REGISTRATION, movedTo } from './registrations.sql.js';

/** Nothing was stored: these fields of the user, such as `gridLocations[0].id`, belong to another user in our database. */
export interface IdentityTaken {
  readonly foreignFields: readonly string[];
}

interface Confirmed {
  readonly user: UserRecord;
}

/**
 * Inserts the confirmed user with its grid locations, makes the locked registration `registered`, and appends the event. Throws a unique
 * violation if an id or the reference belongs to another user that is inserted meanwhile. Returns the user as a read would.
 */
export async function confirmUser(
  tx: Transaction,
  registration: RegistrationRequest & { readonly id: string },
  user: RemoteUser,
): Promise<Confirmed | IdentityTaken> {
  const { id: registrationId, tenantReference, metadata } = registration;
  const gridLocationIds = user.gridLocations.map(({ id }) => id);
  const eans = user.gridLocations.map(({ ean }) => ean);
  const values = [tenantReference, user.id, gridLocationIds, eans, registration.eans];
  const foreign = await tx.query<{ field: string }>(SELECT_FOREIGN_FIELDS, values);
  if (foreign.length > 0) return { foreignFields: foreign.map(({ field }) => field) };
  const confirmed = [registrationId, JSON.stringify({ ...user, metadata })];
  const [stored] = await tx.query<UserRecord>(CONFIRM_USER, confirmed);
  const data = { userId: user.id, registrationId, tenantReference, metadata, gridLocationIds };
  await appendEvents(tx, [{ name: 'user.registered', subject: user.id, data }]);
  return { user: stored! };
}

/** Changes the status of a locked registration and appends its event. In an outage, appends the event of `pending` only once. */
export async function moveRegistration(
  tx: Transaction,
  registration: Announced,
  { status, lastError, reason, nextAttemptInMs }: Exclude<Settlement, { status: 'registered' }>,
): Promise<void> {
  await tx.query(MOVE_REGISTRATION, [registration.id, status, null, lastError, nextAttemptInMs]);
  if (status === 'pending' && (await isLastEvent(tx, registration.id, 'user.registration_pending'))) return;
  await appendOutcomes(tx, status, [registration], reason);
}

async function isLastEvent({ prisma }: Transaction, subject: string, name: string): Promise<boolean> {
  const last = await prisma.domainEvent.findFirst({ where: { subject }, orderBy: { position: 'desc' } });
  return last?.name === name;
}

type Announced = Pick<RegistrationRequest, 'tenantReference' | 'metadata'> & { readonly id: string };

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
 * Checks the user id $2, the grid location ids $3 and their EANs $4. Selects the fields whose value belongs to a user with another
 * reference than $1, or to another object, such as a session. A requested EAN ($5) may belong to several users, since people move house.
 */
// An erased user has no reference, but still owns its ids. An id that is already the subject of events, such as a session id, also counts
// as taken. Otherwise two people would share one history, and the erasure of one person would erase both.
const SELECT_FOREIGN_FIELDS = prepared('users.select_foreign_fields')`
    WITH given AS (SELECT * FROM unnest($3::uuid[], $4::text[]) WITH ORDINALITY AS given (id, ean, number)),
    others AS (
      SELECT location.id, location.ean FROM grid_locations AS location JOIN users ON users.id = user_id
       WHERE (location.id = ANY ($3) OR location.ean = ANY ($4)) AND tenant_reference IS DISTINCT FROM $1
    )
    SELECT 'id' AS field
     WHERE coalesce((SELECT tenant_reference IS DISTINCT FROM $1 FROM users WHERE id = $2),
             EXISTS (SELECT FROM domain_events WHERE subject = $2::text))
    UNION ALL
    SELECT format('gridLocations[%s].id', number - 1) FROM given WHERE id IN (SELECT id FROM others)
    UNION ALL
    SELECT format('gridLocations[%s].ean', number - 1) FROM given WHERE ean <> ALL ($5::text[]) AND ean IN (SELECT ean FROM others)`;

// One statement instead of four: a registration costs the caller a round trip for each. Sorts the locations by id, so that two transactions
// that insert the same ones cannot deadlock.
export const CONFIRM_USER = prepared('registrations.confirm_user')`
    WITH given AS MATERIALIZED (
      SELECT * FROM jsonb_to_record($2::jsonb) AS given (
        id uuid, "tenantReference" text, "tenantName" text, "firstName" text, "lastName" text, email text, "createdAt" timestamptz,
        "updatedAt" timestamptz, metadata jsonb, "gridLocations" jsonb)
    ), inserted AS (
      INSERT INTO users (id, tenant_reference, tenant_name, first_name, last_name, email, metadata, created_at, updated_at)
      SELECT id, "tenantReference", "tenantName", "firstName", "lastName", email, metadata, coalesce("createdAt", clock_timestamp()),
        coalesce("updatedAt", "createdAt", clock_timestamp())
        FROM given
      RETURNING *
    ), located AS (
      INSERT INTO grid_locations (id, user_id, ean)
      SELECT location.id, given.id, location.ean
        FROM given, jsonb_to_recordset("gridLocations") AS location (id uuid, ean text) ORDER BY location.id
      RETURNING *
    ), moved AS (
      UPDATE registrations SET ${movedTo(`'registered'`, 'given.id', 'NULL', 'NULL')}
        FROM given WHERE registrations.id = $1
    )
    SELECT ${userColumns('located')} FROM inserted AS users`;

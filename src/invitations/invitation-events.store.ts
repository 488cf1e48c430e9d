import type { EventPayloads, NewEvent } from '../events/catalogue.rules.js';
import { appendEvents } from '../events/outbox.js';
import type { Transaction } from '../platform/database/database.js';
import { INVITATIONS } from './invitations.sql.js';

type InvitationData = EventPayloads['invitation.created'];
type InvitationEvent =
  'invitation.created' | 'invitation.opened' | 'invitation.expired' | 'invitation.revoked';

const FIND_FACTS = `
    SELECT i.id AS "invitationId", i.grid_location_id AS "gridLocationId", u.id AS "userId", u.tenant_reference AS "tenantReference",
           i.brands, i.locale, i.metadata, i.campaign_id AS "campaignId", i.expires_at AS "expiresAt"
      FROM ${INVITATIONS} WHERE i.id = ANY ($1::uuid[]) ORDER BY i.id`;

/** Appends an event about each of these invitations, with its data as they are now. */
export async function announceAs(
  tx: Transaction,
  ids: readonly string[],
  eventOf: (data: InvitationData) => NewEvent,
): Promise<void> {
  if (ids.length === 0) return;
  const rows = await tx.query<Omit<InvitationData, 'expiresAt'> & { expiresAt: Date }>(FIND_FACTS, [ids]);
  const facts = rows.map((row) => ({ ...row, expiresAt: row.expiresAt.toISOString() }));
  await appendEvents(tx, facts.map(eventOf));
}

/** Appends an event that says no more than the data of its invitation. */
export const announce = (tx: Transaction, name: InvitationEvent, ids: readonly string[]): Promise<void> =>
  announceAs(tx, ids, (data) => ({ name, subject: data.invitationId, data }));

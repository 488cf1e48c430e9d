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

/** Returns the data for events about these invitations, from their current rows. */
export async function findFacts(tx: Transaction, ids: readonly string[]): Promise<InvitationData[]> {
  if (ids.length === 0) return [];
  const rows = await tx.query<Omit<InvitationData, 'expiresAt'> & { expiresAt: Date }>(FIND_FACTS, [ids]);
  return rows.map((row) => ({ ...row, expiresAt: row.expiresAt.toISOString() }));
}

/** Appends an event about an invitation, with its data as they are now. */
export async function announceAs(
  tx: Transaction,
  id: string,
  eventOf: (data: InvitationData) => NewEvent,
): Promise<void> {
  await appendEvents(tx, (await findFacts(tx, [id])).map(eventOf));
}

/** Appends an event about each of these invitations, as they are now. */
export async function announce(tx: Transaction, name: InvitationEvent, ids: readonly string[]) {
  const facts = await findFacts(tx, ids);
  const events = facts.map((data) => ({ name, subject: data.invitationId, data }));
  await appendEvents(tx, events);
}

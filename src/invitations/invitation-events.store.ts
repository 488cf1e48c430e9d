import type { EventPayloads } from '../events/catalogue.rules.js';
import { appendEvents } from '../events/outbox.js';
import type { Transaction } from '../platform/database/database.js';
import { SELECT_INVITATION } from './invitations.sql.js';

type InvitationFacts = EventPayloads['invitation.created'];
type InvitationEvent =
  'invitation.created' | 'invitation.opened' | 'invitation.expired' | 'invitation.revoked';

interface Row extends Omit<InvitationFacts, 'invitationId' | 'expiresAt'> {
  readonly id: string;
  readonly expiresAt: Date;
}

/** Returns the data that every event about these invitations has, by their current rows. */
export async function findFacts(tx: Transaction, ids: readonly string[]): Promise<InvitationFacts[]> {
  if (ids.length === 0) return [];
  const text = `${SELECT_INVITATION} WHERE i.id = ANY ($1::uuid[]) ORDER BY i.id`;
  const rows = await tx.query<Row>(text, [ids]);
  return rows.map(
    ({ id, gridLocationId, userId, tenantReference, brands, locale, metadata, campaignId, expiresAt }) => ({
      invitationId: id,
      gridLocationId,
      userId,
      tenantReference,
      brands,
      locale,
      metadata,
      campaignId,
      expiresAt: expiresAt.toISOString(),
    }),
  );
}

/** Appends an event about each of these invitations, as they are now. */
export async function announce(tx: Transaction, name: InvitationEvent, ids: readonly string[]) {
  const facts = await findFacts(tx, ids);
  const events = facts.map((data) => ({ name, subject: data.invitationId, data }));
  await appendEvents(tx, events);
}

import type { Transaction } from '../platform/database/database.js';
import { announceAs } from './invitation-events.store.js';
import type { ConsentText } from './owner/owner-texts.service.js';

export interface GivenConsent extends Pick<ConsentText, 'version' | 'hash' | 'locale' | 'text'> {
  readonly id: string;
  readonly brand: string | null;
  readonly givenAt: Date;
  readonly withdrawnAt: Date | null;
}

const INSERT_TEXT = `
    INSERT INTO consent_texts (hash, version, locale, text) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`;

/** Inserts the consent to text $3 for brand $2 of locked invitation $1, unless the same one stands. If $4, inserts it anyway. */
const INSERT_CONSENT = `
    INSERT INTO consents (invitation_id, brand, text_hash)
    SELECT $1::uuid, $2::text, $3::text
     WHERE $4 OR NOT EXISTS (
             SELECT FROM consents WHERE invitation_id = $1 AND brand IS NOT DISTINCT FROM $2 AND text_hash = $3 AND withdrawn_at IS NULL)
    RETURNING given_at AS "givenAt"`;

export const WITHDRAW_CONSENTS = `
    UPDATE consents SET withdrawn_at = clock_timestamp() WHERE invitation_id = $1 AND withdrawn_at IS NULL
    RETURNING withdrawn_at AS "withdrawnAt"`;

export const FIND_CONSENTS = `
    SELECT c.id, c.brand, c.given_at AS "givenAt", c.withdrawn_at AS "withdrawnAt", t.hash, t.version, t.locale, t.text
      FROM consents c JOIN consent_texts t ON t.hash = c.text_hash
     WHERE c.invitation_id = $1 ORDER BY c.given_at DESC, c.id`;

/**
 * Withdraws what the owner of a locked invitation has agreed to, with its event. `by`: who recorded it. Returns false if nothing was left to
 * withdraw.
 */
export async function withdrawConsents(
  tx: Transaction,
  invitationId: string,
  by: 'owner' | 'tenant',
): Promise<boolean> {
  const [withdrawn] = await tx.query<{ withdrawnAt: Date }>(WITHDRAW_CONSENTS, [invitationId]);
  if (withdrawn === undefined) return false;
  await announceAs(tx, [invitationId], (facts) => ({
    name: 'consent.withdrawn',
    subject: invitationId,
    data: { ...facts, by, withdrawnAt: withdrawn.withdrawnAt.toISOString() },
  }));
  return true;
}

/** Records the consent of the owner of a locked invitation, with its event, if it is new. `isNew`: whether it is new even if the same one stands. */
export async function giveConsent(
  tx: Transaction,
  invitationId: string,
  brand: string | null,
  { hash, version, locale, text }: ConsentText,
  isNew: boolean,
): Promise<void> {
  await tx.query(INSERT_TEXT, [hash, version, locale, text]);
  const [given] = await tx.query<{ givenAt: Date }>(INSERT_CONSENT, [invitationId, brand, hash, isNew]);
  if (given === undefined) return;
  const consent = { brand, version, hash, locale, givenAt: given.givenAt.toISOString() };
  await announceAs(tx, [invitationId], ({ brands: _, locale: _l, expiresAt: _e, ...about }) => ({
    name: 'consent.given',
    subject: invitationId,
    data: { ...about, ...consent },
  }));
}

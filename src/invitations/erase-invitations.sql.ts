import type { PersonalData, Person } from '../platform/database/personal-data.js';

const parameter = ({ invitationIds }: Person) => invitationIds;

/** Erases the invitations $1. Keeps the hash of the token, so that the link can say that the invitation is over. */
export const ERASE_INVITATIONS = `
    UPDATE invitations i
       SET token_ciphertext = NULL, metadata = '{}', return_url = NULL, locale = NULL, expected_inverters = NULL,
           wish_due_at = NULL, wish_failed_at = NULL, reminder_due_at = NULL, decline_reason = NULL, code_hash = NULL,
           code_expires_at = NULL, erased_at = $2
     WHERE i.id = ANY ($1::uuid[]) AND i.erased_at IS NULL
    RETURNING i.id`;

const INVITATIONS: PersonalData = {
  table: 'invitations',
  where: 't.id = ANY ($1::uuid[])',
  order: 't.id',
  parameter,
  erase: async (tx, { invitationIds }, { at }) =>
    (await tx.query(ERASE_INVITATIONS, [invitationIds, at])).length,
};

const DELETE_CONSENTS = 'DELETE FROM consents WHERE invitation_id = ANY ($1::uuid[]) RETURNING id';

/** Keeps the texts: they are the same for all owners. */
const CONSENTS: PersonalData = {
  table: 'consents',
  columns: `(SELECT consent FROM (
      SELECT t.*, x.version, x.locale, x.text FROM consent_texts x WHERE x.hash = t.text_hash) consent)`,
  where: 't.invitation_id = ANY ($1::uuid[])',
  order: 't.given_at, t.id',
  parameter,
  erase: async (tx, { invitationIds }) => (await tx.query(DELETE_CONSENTS, [invitationIds])).length,
};

export const INVITATION_DATA = [INVITATIONS, CONSENTS];

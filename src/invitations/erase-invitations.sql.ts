import type { PersonalData, Person } from '../platform/database/personal-data.js';
import { ERASE_INVITATIONS } from './invitations.sql.js';

const parameter = ({ invitationIds }: Person) => invitationIds;

/** Keeps the hash of the token, so that the link can say that the invitation is over. */
const INVITATIONS: PersonalData = {
  table: 'invitations',
  where: 't.id = ANY ($1::uuid[])',
  order: 't.id',
  parameter,
  erase: async (tx, { invitationIds }, { at }) =>
    (await tx.query(ERASE_INVITATIONS, [invitationIds, at])).length,
};

export const DELETE_CONSENTS = 'DELETE FROM consents WHERE invitation_id = ANY ($1::uuid[]) RETURNING id';

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

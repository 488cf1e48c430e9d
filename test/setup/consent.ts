import type { Sql } from '../../src/platform/database/database.js';

/** Inserts the consent of an owner who has clicked on the page of the invitation, without the start of a session. */
export const insertConsent = (database: Sql, invitationId: string): Promise<unknown> =>
  database.query(
    `WITH text AS (INSERT INTO consent_texts (hash, version, locale, text) VALUES (md5($1), '1', 'en', 'Agreed.') RETURNING hash)
     INSERT INTO consents (invitation_id, text_hash) SELECT $1::uuid, hash FROM text`,
    [invitationId],
  );

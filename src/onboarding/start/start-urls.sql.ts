import type { EncryptedColumn } from '../../platform/crypto/re-encryption.store.js';

/** Returns the context to which the ciphertext of a startUrl is bound. */
export const startUrlContext = (sessionId: string) => `onboarding_sessions/${sessionId}/start_url`;

/** The encrypted startUrls of sessions whose web flow is open. */
export const START_URLS: EncryptedColumn = {
  name: 'onboarding_sessions.start_url_ciphertext',
  beforeAll: '00000000-0000-0000-0000-000000000000',
  context: startUrlContext,
  // Pages by primary key. An index on the part that changes with every key would be written at every start, for one run in years.
  selectOthers: {
    name: 'select_start_urls_of_other_keys',
    text: `
      SELECT id, start_url_ciphertext AS ciphertext FROM onboarding_sessions
       WHERE start_url_ciphertext IS NOT NULL AND substring(start_url_ciphertext FOR length($1::bytea)) <> $1 AND id > $2
       ORDER BY id
       LIMIT $3`,
  },
  replace: {
    name: 'replace_start_urls',
    text: `
      UPDATE onboarding_sessions s SET start_url_ciphertext = r.renewed
        FROM unnest($1::uuid[], $2::bytea[], $3::bytea[]) AS r(id, read, renewed)
       WHERE s.id = r.id AND s.start_url_ciphertext = r.read
      RETURNING s.id`,
  },
};

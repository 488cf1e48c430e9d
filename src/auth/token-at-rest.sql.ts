import type { EncryptedColumn } from '../platform/crypto/re-encryption.store.js';

/** Returns the context to which the ciphertext of a token is bound. */
export const tokenContext = (name: string) => `remote_tokens/${name}/token`;

/** The access tokens for the remote service. */
export const TOKENS: EncryptedColumn = {
  name: 'remote_tokens.token_ciphertext',
  beforeAll: '',
  context: tokenContext,
  selectOthers: {
    name: 'select_tokens_of_other_keys',
    text: `
      SELECT name AS id, token_ciphertext AS ciphertext FROM remote_tokens
      WHERE token_ciphertext IS NOT NULL AND substring(token_ciphertext FOR length($1::bytea)) <> $1 AND name > $2
      ORDER BY name
      LIMIT $3`,
  },
  replace: {
    name: 'replace_tokens',
    text: `
      UPDATE remote_tokens SET token_ciphertext = renewals.renewed
      FROM unnest($1::text[], $2::bytea[], $3::bytea[]) AS renewals (name, read, renewed)
      WHERE remote_tokens.name = renewals.name AND token_ciphertext = renewals.read
      RETURNING remote_tokens.name`,
  },
};

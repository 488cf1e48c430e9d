import type { EncryptedColumn } from '../../../platform/crypto/re-encryption.store.js';
import type { Statement } from '../../../platform/database/database.js';

/**
 * The contexts to which the ciphertexts of an endpoint are bound. The plaintext of the secret is its external form (`whsec_…`), of
 * the previous secrets a JSON list of `{ secret, until }`, of the headers a JSON object.
 */
export const secretContext = (endpointId: string) => `webhook_endpoints/${endpointId}/secret`;
export const previousSecretContext = (endpointId: string) =>
  `webhook_endpoints/${endpointId}/previous_secret`;
export const headersContext = (endpointId: string) => `webhook_endpoints/${endpointId}/headers`;

/** The current signing secrets. */
export const WEBHOOK_SECRETS = columnOf('secret_ciphertext', secretContext);
/** The rotated secrets, which still sign during their overlap. */
export const PREVIOUS_WEBHOOK_SECRETS = columnOf('previous_secret_ciphertext', previousSecretContext);
/** The custom headers of endpoints. */
export const WEBHOOK_HEADERS = columnOf('headers_ciphertext', headersContext);

function columnOf(column: string, context: (endpointId: string) => string): EncryptedColumn {
  return {
    name: `webhook_endpoints.${column}`,
    beforeAll: '00000000-0000-0000-0000-000000000000',
    context,
    selectOthers: {
      name: `webhooks.select-others.${column}`,
      text: `
        SELECT id, ${column} AS ciphertext FROM webhook_endpoints
        WHERE ${column} IS NOT NULL AND substring(${column} FOR length($1::bytea)) <> $1 AND id > $2
        ORDER BY id
        LIMIT $3`,
    },
    replace: {
      name: `webhooks.replace.${column}`,
      text: `
        UPDATE webhook_endpoints AS endpoint SET ${column} = renewals.renewed
        FROM unnest($1::uuid[], $2::bytea[], $3::bytea[]) AS renewals (id, read, renewed)
        WHERE endpoint.id = renewals.id AND endpoint.${column} = renewals.read
        RETURNING endpoint.id`,
    },
  };
}

/** The row that SIGNING_COLUMNS returns. */
export interface SealedSecrets {
  readonly secretCiphertext: Buffer;
  /** Null once the last of them has ended. */
  readonly previousSecretCiphertext: Buffer | null;
  /** When the last of them ends. */
  readonly previousSecretUntil: Date | null;
  /** The database's time, by which the ends are judged. */
  readonly now: Date;
}

export const SIGNING_COLUMNS = `
  secret_ciphertext AS "secretCiphertext",
  CASE WHEN previous_secret_until > clock_timestamp() THEN previous_secret_ciphertext END AS "previousSecretCiphertext",
  previous_secret_until AS "previousSecretUntil", clock_timestamp() AS now`;

/** Selects the URL, headers and secrets for sending. */
export const GET_DESTINATION: Statement = {
  name: 'webhooks.get-destination',
  text: `
    SELECT url, headers_ciphertext AS "headersCiphertext", ${SIGNING_COLUMNS}
    FROM webhook_endpoints WHERE id = $1`,
};

export const ROTATE_SECRET: Statement = {
  name: 'webhooks.rotate-secret',
  text: `
    UPDATE webhook_endpoints
    SET secret_ciphertext = $2, previous_secret_ciphertext = $3, previous_secret_until = $4, updated_at = clock_timestamp()
    WHERE id = $1`,
};

import type { Sql, Transaction } from '../platform/database/database.js';
import type { WebhookEndpoint } from '../platform/database/generated/client.js';
import type { Health } from './send/endpoint-health.rules.js';

/** The columns needed to send to an endpoint or to change it. `previousSecretCiphertext` is null if all previous secrets have expired. */
export interface EndpointRow
  extends Health, Pick<WebhookEndpoint, 'types' | 'headersCiphertext' | 'previousSecretCiphertext'> {
  readonly url: string;
  readonly secretCiphertext: NonNullable<WebhookEndpoint['secretCiphertext']>;
  readonly isDisabled: boolean;
  readonly now: Date;
}

// Uses SQL, because Prisma neither locks rows nor reads the database's clock.
const READ = `
  SELECT url, types, headers_ciphertext AS "headersCiphertext", secret_ciphertext AS "secretCiphertext",
    CASE WHEN previous_secret_until > clock_timestamp() THEN previous_secret_ciphertext END AS "previousSecretCiphertext",
    disabled_at IS NOT NULL AS "isDisabled",
    failures, failing_since AS "failingSince", is_reported AS "isReported", quiet_until AS "quietUntil", clock_timestamp() AS now
  FROM webhook_endpoints WHERE id = $1 AND handler IS NULL`;

export async function readEndpoint(sql: Sql, id: string, lock = ''): Promise<EndpointRow | null> {
  return (await sql.query<EndpointRow>(READ + lock, [id]))[0] ?? null;
}

/** Reads the endpoint and locks it, so that other transactions cannot change it. */
export const lockEndpoint = (tx: Transaction, id: string) => readEndpoint(tx, id, ' FOR NO KEY UPDATE');

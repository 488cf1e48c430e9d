import type { Sql, Statement, Transaction } from '../../../platform/database/database.js';
import type { Health } from './endpoint-health.rules.js';

const ENDPOINT_HEALTH: Statement = {
  name: 'webhooks.endpoint-health',
  text: `
    SELECT failures, failing_since AS "failingSince", quiet_until AS "quietUntil", clock_timestamp() AS now
    FROM webhook_endpoints WHERE id = $1 AND disabled_at IS NULL`,
};

export interface EndpointHealth extends Health {
  /** The database's time when the row was read. */
  readonly now: Date;
}

/** Returns null if the endpoint is disabled or deleted. */
export async function findHealth(sql: Sql, endpointId: string): Promise<EndpointHealth | null> {
  const [row] = await sql.query<EndpointHealth>(ENDPOINT_HEALTH, [endpointId]);
  return row ?? null;
}

const HOLD_HEALTH: Statement = {
  name: 'webhooks.hold-health',
  text: `${ENDPOINT_HEALTH.text} FOR NO KEY UPDATE`,
};

/** Locks the endpoint. Returns null if it is disabled or deleted. */
export async function holdHealth(tx: Transaction, endpointId: string): Promise<EndpointHealth | null> {
  const [row] = await tx.query<EndpointHealth>(HOLD_HEALTH, [endpointId]);
  return row ?? null;
}

const WRITE_HEALTH: Statement = {
  name: 'webhooks.write-health',
  text: `
    UPDATE webhook_endpoints
    SET failures = $2, failing_since = $3, quiet_until = $4,
      disabled_at = CASE WHEN $5::text IS NOT NULL THEN clock_timestamp() END, disabled_reason = $5
    WHERE id = $1`,
};

export async function writeHealth(
  tx: Transaction,
  endpointId: string,
  health: Health,
  disabledReason: string | null,
): Promise<void> {
  const { failures, failingSince, quietUntil } = health;
  await tx.query(WRITE_HEALTH, [endpointId, failures, failingSince, quietUntil, disabledReason]);
}

/**
 * Makes due every delivery attempted since the outage began ($2). The extra minute covers attempts sent before the first failure was
 * known; the deadline of an attempt is shorter.
 */
const MAKE_TRIED_DUE: Statement = {
  name: 'webhooks.make-tried-due',
  text: `
    UPDATE webhook_deliveries SET next_attempt_at = clock_timestamp()
    WHERE endpoint_id = $1 AND status = 'pending' AND next_attempt_at > clock_timestamp() AND last_attempt_at >= $2::timestamptz - interval '1 minute'`,
};

export async function makeTriedDue(tx: Transaction, endpointId: string, since: Date): Promise<void> {
  await tx.query(MAKE_TRIED_DUE, [endpointId, since]);
}

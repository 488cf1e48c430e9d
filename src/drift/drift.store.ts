import { appendEvents } from '../events/outbox.js';
import type { Database } from '../platform/database/database.js';
import type { OperationClass } from '../remote/outcome.rules.js';
import type { Drift } from '../remote/drift.js';

/** Locks the operation's row, so that concurrent transactions append its events in order. */
export const LOCK_OPERATION = `SELECT 1 FROM remote_operations WHERE operation = $1 FOR UPDATE`;

// Records at most 50 differences per operation, in case field names are data. Always records a foreign id: customers may be mixed up.
// xmax is 0 in a row that this statement inserted, and not 0 in a row that it updated.
const RECORD_DRIFT = `
  INSERT INTO remote_drift (operation, kind, field, expected, found)
  SELECT $1, d.kind, d.field, d.expected, d.found
  FROM jsonb_to_recordset($2::jsonb) AS d (kind text, field text, expected text, found text)
  WHERE EXISTS (SELECT FROM remote_drift k WHERE k.operation = $1 AND k.kind = d.kind AND k.field = d.field)
     OR d.kind = 'foreign_id'
     OR (SELECT count(*) FROM remote_drift WHERE operation = $1) < 50
  ON CONFLICT (operation, kind, field) DO UPDATE SET last_seen_at = clock_timestamp()
  RETURNING kind, field, expected, found, first_seen_at AS "observedAt", xmax = 0 AS "isNew"`;

/** Records, for all replicas, how a response differs from the interface. Announces and returns the differences that are new. */
export const recordDrift = (
  database: Database,
  operation: OperationClass,
  drifts: readonly Drift[],
): Promise<Drift[]> =>
  database.transaction(async (tx) => {
    await tx.query(LOCK_OPERATION, [operation]);
    const values = [operation, JSON.stringify(drifts)];
    const recorded = await tx.query<Drift & { observedAt: Date; isNew: boolean }>(RECORD_DRIFT, values);
    const added = recorded.filter(({ isNew }) => isNew);
    const events = added.map(({ isNew, observedAt, ...drift }) => {
      const data = { operation, ...drift, observedAt: observedAt.toISOString() };
      return { name: 'remote.contract_drift' as const, subject: operation, data };
    });
    await appendEvents(tx, events);
    return added;
  });

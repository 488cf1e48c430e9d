import type { EventPayloads, NewEvent } from '../../events/catalogue.rules.js';
import { appendEvents } from '../../events/outbox.js';
import type { Database, Transaction } from '../../platform/database/database.js';
import { OUTCOME } from '../../platform/database/connection/patience.js';
import { parseJsonTimestamp } from '../../platform/database/timestamps.js';

/** The data of the event of a failed start, as PostgreSQL writes it. */
type FailedStart = EventPayloads['session.start_failed'];

/** A row of a statement that ends starts. `failed` is null if the statement did not mark the start as failed. */
export interface EndedStart {
  readonly failed: FailedStart | null;
}

/** SQL for locations `g` with their users `u`. For the place of start `s`, a statement adds `g.id = s.grid_location_id`. */
export const PLACE_OF_START = `grid_locations g JOIN users u ON u.id = g.user_id`;

/** Returns SQL for the FailedStart of start `s`, with `g` and `u` of PLACE_OF_START. `reason` is SQL, too. */
export const failedStart = (reason: string): string => `
    jsonb_build_object('startId', s.id, 'userId', u.id, 'gridLocationId', g.id, 'tenantReference', u.tenant_reference,
      'brand', s.brand, 'attempts', s.attempts, 'orphans', s.orphans, 'reason', ${reason}, 'failedAt', s.updated_at)`;

/** Returns the events of the starts that have failed. Their subject is the grid location, which has no session from this start. */
export const startFailedEvents = (ended: readonly EndedStart[]): NewEvent[] =>
  ended.flatMap(({ failed }) => (failed === null ? [] : toEvent(failed)));

const toEvent = (failed: FailedStart): NewEvent => ({
  name: 'session.start_failed',
  subject: failed.gridLocationId,
  data: { ...failed, failedAt: parseJsonTimestamp(failed.failedAt).toISOString() },
});

/** Returns a runner for statements that return EndedStarts. It appends the event of each failed start in the same transaction. */
export const runnerOfFailures = (database: Database): Pick<Database, 'query' | 'outcomes'> => ({
  outcomes: database.outcomes,
  query: <Row>(...statement: Parameters<Transaction['query']>) =>
    database.transaction(async (tx) => {
      const ended = await tx.query<Row & EndedStart>(...statement);
      await appendEvents(tx, startFailedEvents(ended));
      return ended;
    }, OUTCOME),
});

import type { Database, Sql } from '../platform/database/database.js';
import type { EventName } from '../events/catalogue.rules.js';
import type { EventHandler } from './on-event.js';

type Subscription = Pick<EventHandler, 'name' | 'events'>;

/** Upserts the handlers as endpoints. A new handler gets the events after the newest event that has a sequence. */
export async function subscribeHandlers(sql: Sql, handlers: readonly Subscription[]): Promise<void> {
  // Inserts in name order, so that replicas that start at the same time cannot deadlock.
  const text = `
    INSERT INTO webhook_endpoints (handler, types, read_to, seen_at, created_by)
    SELECT name, ARRAY(SELECT jsonb_array_elements_text(events)), newest, clock_timestamp(), 'service'
    FROM jsonb_to_recordset($1::jsonb) AS handlers (name text, events jsonb),
      (SELECT coalesce(max(sequence), 0) AS newest FROM domain_events) AS feed
    ORDER BY name
    ON CONFLICT (handler) DO UPDATE SET types = excluded.types, seen_at = clock_timestamp()`;
  await sql.query(text, [JSON.stringify(handlers)]);
}

// Does not write `types`: during a rollout, a replica of the previous release must not revert the new subscriptions.
export async function touchHandlers(sql: Sql, names: readonly string[]): Promise<void> {
  await sql.query('UPDATE webhook_endpoints SET seen_at = clock_timestamp() WHERE handler = ANY ($1)', [
    names,
  ]);
}

/** Returns whether the stored subscription of the handler includes the event. A newer release may have changed the subscription. */
export const isSubscribed = async (
  { prisma }: Pick<Database, 'prisma'>,
  handler: string,
  event: EventName,
): Promise<boolean> =>
  (await prisma.webhookEndpoint.count({ where: { handler, types: { has: event } } })) > 0;

/**
 * Deletes the handlers that no process has had for 7 days. Returns each deleted handler with the number of events that it had not handled.
 */
// Waits 7 days, because a release without the handler may be rolled back within a week.
export async function retireHandlers(sql: Sql): Promise<{ name: string; pending: number }[]> {
  return sql.query(`
    WITH retired AS (
      DELETE FROM webhook_endpoints WHERE seen_at < clock_timestamp() - interval '7 days' RETURNING id, handler, types, read_to
    )
    SELECT handler AS name,
      ((SELECT count(*) FROM webhook_deliveries WHERE endpoint_id = retired.id AND status = 'pending') +
       (SELECT count(*) FROM domain_events WHERE sequence > read_to AND domain_events.name = ANY (types)))::int AS pending
    FROM retired`);
}

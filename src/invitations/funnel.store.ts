import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import type { FunnelView } from './funnel.view.js';
import { STATE } from './invitations.sql.js';

const dayOf = (row: 'i' | 's') => `to_char(${row}.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`;

/**
 * The keys by which invitations are counted. An invitation without brands has the brand null. An invitation with several brands counts once
 * for each brand. A start counts for its own brand, and for the campaign of the newest invitation of its location.
 */
const KEYS = {
  day: { key: dayOf('i'), join: '', keyOfStart: dayOf('s') },
  brand: {
    key: 'brand.name',
    join: `LEFT JOIN LATERAL unnest(i.brands) AS brand (name) ON true`,
    keyOfStart: 's.brand',
  },
  campaign: {
    key: 'i.campaign_id::text',
    join: '',
    keyOfStart: `(SELECT n.campaign_id::text FROM invitations n WHERE n.grid_location_id = s.grid_location_id ORDER BY n.created_at DESC LIMIT 1)`,
  },
} as const;

/**
 * Whether the time to online of invitation `i` counts: its owner was not done before it was created. The view admin.funnel has the same
 * condition.
 */
const WAS_AWAITED = 'i.owner_done_at > i.created_at';

export type FunnelKey = keyof typeof KEYS;

@Injectable()
export class FunnelStore {
  constructor(private readonly database: Database) {}

  /**
   * Counts the invitations created in a period by the steps that they have reached until now. Each counts once per key, with all its steps.
   * Counts the starts of the period that failed, too, whether or not their owners were invited in it.
   */
  async count(by: FunnelKey, from: Date, to: Date): Promise<Omit<FunnelView, 'object'>[]> {
    const { key, join, keyOfStart } = KEYS[by];
    const toOnline = (share: number, since: 'created_at' | 'owner_done_at') =>
      `percentile_disc(${share}) WITHIN GROUP (ORDER BY extract(epoch FROM i.online_at - i.${since})) FILTER (WHERE ${WAS_AWAITED})::float8`;
    return this.database.query(
      `SELECT coalesce(i.key, s.key) AS key, count(i.id)::int AS invited, count(i.sent_at)::int AS sent,
              count(i.opened_at)::int AS opened, count(i.started_at)::int AS started,
              count(i.owner_done_at)::int AS "ownerDone", count(i.online_at)::int AS online,
              (count(*) FILTER (WHERE i.state = 'expired'))::int AS expired,
              (count(*) FILTER (WHERE i.state = 'declined'))::int AS declined,
              (count(*) FILTER (WHERE i.id IS NULL))::int AS "failedStarts",
              ${toOnline(0.5, 'created_at')} AS "medianSecondsToOnline", ${toOnline(0.95, 'created_at')} AS "p95SecondsToOnline",
              ${toOnline(0.5, 'owner_done_at')} AS "medianSecondsFromDone", ${toOnline(0.95, 'owner_done_at')} AS "p95SecondsFromDone"
         FROM (SELECT i.*, ${STATE} AS state, ${key} AS key FROM invitations i ${join}
                WHERE i.created_at >= $1 AND i.created_at < $2) i
         FULL JOIN (SELECT ${keyOfStart} AS key FROM session_starts s
                     WHERE s.status = 'failed' AND s.created_at >= $1 AND s.created_at < $2) s ON false
        GROUP BY 1 ORDER BY 1`,
      [from, to],
    );
  }
}

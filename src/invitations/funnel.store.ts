import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import type { FunnelView } from './funnel.view.js';
import { STATE } from './invitations.sql.js';

/**
 * The keys by which invitations are counted. An invitation without brands has the brand null. An invitation with several brands counts once
 * for each brand.
 */
const KEYS = {
  day: { key: `to_char(i.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`, join: '' },
  brand: { key: 'brand.name', join: `LEFT JOIN LATERAL unnest(i.brands) AS brand (name) ON true` },
  campaign: { key: 'i.campaign_id::text', join: '' },
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
   */
  async count(by: FunnelKey, from: Date, to: Date): Promise<FunnelView[]> {
    const { key, join } = KEYS[by];
    const toOnline = (share: number, since: 'created_at' | 'owner_done_at') =>
      `percentile_disc(${share}) WITHIN GROUP (ORDER BY extract(epoch FROM i.online_at - i.${since})) FILTER (WHERE ${WAS_AWAITED})::float8`;
    return this.database.query(
      `SELECT ${key} AS key, count(*)::int AS invited, count(i.sent_at)::int AS sent,
              count(i.opened_at)::int AS opened, count(i.started_at)::int AS started,
              count(i.owner_done_at)::int AS "ownerDone", count(i.online_at)::int AS online,
              (count(*) FILTER (WHERE ${STATE} = 'expired'))::int AS expired,
              (count(*) FILTER (WHERE ${STATE} = 'declined'))::int AS declined,
              ${toOnline(0.5, 'created_at')} AS "medianSecondsToOnline", ${toOnline(0.95, 'created_at')} AS "p95SecondsToOnline",
              ${toOnline(0.5, 'owner_done_at')} AS "medianSecondsFromDone", ${toOnline(0.95, 'owner_done_at')} AS "p95SecondsFromDone"
         FROM invitations i ${join}
        WHERE i.created_at >= $1 AND i.created_at < $2
        GROUP BY 1 ORDER BY 1`,
      [from, to],
    );
  }
}

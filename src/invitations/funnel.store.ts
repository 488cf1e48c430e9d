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

/** What is counted of the invitations `i` of a key. */
const COUNTS = {
  invited: 'count(*)',
  sent: 'count(i.sent_at)',
  opened: 'count(i.opened_at)',
  started: 'count(i.started_at)',
  ownerDone: 'count(i.owner_done_at)',
  online: 'count(i.online_at)',
  expired: `(count(*) FILTER (WHERE ${STATE} = 'expired'))`,
  declined: `(count(*) FILTER (WHERE ${STATE} = 'declined'))`,
} as const;

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
    const counts = Object.entries(COUNTS);
    return this.database.query(
      `SELECT coalesce(i.key, s.key) AS key, ${counts.map(([name]) => `coalesce(i."${name}", 0) AS "${name}"`).join(', ')},
              coalesce(s.failed, 0) AS "failedStarts", "medianSecondsToOnline", "p95SecondsToOnline", "medianSecondsFromDone", "p95SecondsFromDone"
         FROM (SELECT ${key} AS key, ${counts.map(([name, count]) => `${count}::int AS "${name}"`).join(', ')},
                      ${toOnline(0.5, 'created_at')} AS "medianSecondsToOnline", ${toOnline(0.95, 'created_at')} AS "p95SecondsToOnline",
                      ${toOnline(0.5, 'owner_done_at')} AS "medianSecondsFromDone", ${toOnline(0.95, 'owner_done_at')} AS "p95SecondsFromDone"
                 FROM invitations i ${join}
                WHERE i.created_at >= $1 AND i.created_at < $2
                GROUP BY 1) i
         -- No key is empty, and a full join needs a condition that can be hashed.
         FULL JOIN (SELECT ${keyOfStart} AS key, count(*)::int AS failed FROM session_starts s
                     WHERE s.status = 'failed' AND s.created_at >= $1 AND s.created_at < $2
                     GROUP BY 1) s ON coalesce(s.key, '') = coalesce(i.key, '')
        ORDER BY 1`,
      [from, to],
    );
  }
}

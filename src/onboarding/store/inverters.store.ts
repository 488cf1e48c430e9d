import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { Problem } from '../../platform/problem/problem.js';

/** An inverter, with only one of the sessions that list it. */
export interface InverterRecord {
  readonly id: string;
  readonly sessionId: string;
  readonly userId: string;
  readonly gridLocationId: string;
  readonly brand: string | null;
  readonly firstSeenAt: Date;
  readonly lastSeenAt: Date;
  readonly missingSince: Date | null;
}

export interface InverterFilter {
  readonly userId?: string;
  readonly gridLocationId?: string;
}

/** Position in the list, by firstSeenAt, newest first. Two users may have the same inverter, so its id alone is not a position. */
export interface InverterPosition {
  readonly firstSeenAt: Date;
  readonly id: string;
  readonly sessionId: string;
}

// An inverter that is not missing was seen at the last good read of its session, which is recorded only there (see polls.sql.ts). A read
// counts from its claim, hence `greatest`: the first read that saw the inverter was claimed a moment before first_seen_at.
const SELECT = `
  SELECT i.id, i.session_id AS "sessionId", s.user_id AS "userId", s.grid_location_id AS "gridLocationId", s.brand,
         i.first_seen_at AS "firstSeenAt", i.missing_since AS "missingSince",
         greatest(i.first_seen_at,
                  CASE WHEN i.missing_since IS NOT NULL THEN i.last_seen_at
                       WHEN p.session_id IS NULL THEN s.last_checked_at
                       WHEN b.id IS NULL THEN p.claimed_at ELSE p.checked_at END) AS "lastSeenAt"
    FROM inverters i
    JOIN onboarding_sessions s ON s.id = i.session_id
    LEFT JOIN session_polls p ON p.session_id = s.id
    LEFT JOIN poll_batches b ON b.id = p.batch_id`;

/**
 * Excludes a row if another session of the same owner (a user or a grid location) has the same inverter and takes precedence: one that
 * still lists it, then the one with the latest first_seen_at. Sessions of other owners are irrelevant: an inverter may legitimately be in
 * several.
 *
 * PostgreSQL must use the owner's sessions, which are few, and not the index on inverter ids: if a remote service gave one id to
 * everybody's inverters, each row would be compared with all others. So the comparison is a scalar subquery, not a join. The id is a
 * range, for which that index looks worse than the primary key.
 */
const isLatestOf = (owner: 'user_id' | 'grid_location_id'): string => `
  NOT EXISTS (SELECT FROM onboarding_sessions other
               WHERE other.${owner} = s.${owner}
                 AND (SELECT (later.missing_since IS NULL, later.first_seen_at, later.session_id)
                             > (i.missing_since IS NULL, i.first_seen_at, i.session_id)
                        FROM inverters later WHERE later.session_id = other.id AND later.id BETWEEN i.id AND i.id))`;

/** Reads inverters: one row for each inverter and user, or for each inverter of one grid location. */
@Injectable()
export class InvertersStore {
  constructor(private readonly database: Database) {}

  /**
   * Returns one row for the inverter, of any user: prefers a session that still lists it, then the latest first_seen_at. Throws Problem
   * not_found.
   */
  async getInverter(id: string): Promise<InverterRecord> {
    const text = `${SELECT} WHERE i.id = $1 ORDER BY i.missing_since IS NULL DESC, i.first_seen_at DESC, i.session_id DESC LIMIT 1`;
    const [inverter] = await this.database.query<InverterRecord>({ name: 'find_inverter', text }, [id]);
    if (inverter === undefined) throw new Problem('not_found', `There is no inverter ${id}`);
    return inverter;
  }

  /** Returns at most `limit` inverters after `position`, newest first. */
  async listInverters(
    filter: InverterFilter,
    position: InverterPosition | undefined,
    limit: number,
  ): Promise<InverterRecord[]> {
    const values: unknown[] = [];
    const conditions = [isLatestOf(filter.gridLocationId === undefined ? 'user_id' : 'grid_location_id')];
    const add = (column: string, value: unknown) => {
      if (value === undefined) return;
      values.push(value);
      conditions.push(`${column} = $${values.length}`);
    };
    add('s.user_id', filter.userId);
    add('s.grid_location_id', filter.gridLocationId);
    if (position !== undefined) {
      const at = values.push(position.firstSeenAt, position.id, position.sessionId);
      conditions.push(`(i.first_seen_at, i.id, i.session_id) < ($${at - 2}, $${at - 1}::uuid, $${at}::uuid)`);
    }
    const order = `ORDER BY i.first_seen_at DESC, i.id DESC, i.session_id DESC LIMIT ${limit}`;
    return this.database.query<InverterRecord>(
      `${SELECT} WHERE ${conditions.join(' AND ')} ${order}`,
      values,
    );
  }
}

import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { Problem } from '../../platform/problem/problem.js';

/** An inverter with one of the sessions that list it, and nothing of any other. */
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

/** The order of the list: by first sight, newest first. Two users may have the same inverter, so its id alone is not a position. */
export interface InverterPosition {
  readonly firstSeenAt: Date;
  readonly id: string;
  readonly sessionId: string;
}

// One that is not missing was seen at the last good read of its session, which is written nowhere else (see polls.sql.ts).
// A read counts from its claim, hence `greatest`: the read that saw it first was claimed a moment before.
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
 * Excludes a row if a later session of the same owner, a user or a grid location, has the same inverter: one that still lists it, else
 * the one that listed it first most recently. Sessions of other owners are no matter: an inverter may legitimately stand in several.
 *
 * PostgreSQL must go by the sessions of the owner, which are few, and not by the index on inverter ids: a remote service that gives one
 * id to the inverters of everybody would make each row be compared with all others. So the comparison is a value and no join, and the id
 * a range, for which that index looks worse than the primary key.
 */
const isLatestOf = (owner: 'user_id' | 'grid_location_id'): string => `
  NOT EXISTS (SELECT FROM onboarding_sessions other
               WHERE other.${owner} = s.${owner}
                 AND (SELECT (later.missing_since IS NULL, later.first_seen_at, later.session_id)
                             > (i.missing_since IS NULL, i.first_seen_at, i.session_id)
                        FROM inverters later WHERE later.session_id = other.id AND later.id BETWEEN i.id AND i.id))`;

/** Inverters as they are returned: one row for each inverter and user, or for each inverter of one grid location. */
@Injectable()
export class InvertersStore {
  constructor(private readonly database: Database) {}

  /** Returns the row of the session that listed the inverter last, of any user. Throws Problem not_found. */
  async getInverter(id: string): Promise<InverterRecord> {
    const text = `${SELECT} WHERE i.id = $1 ORDER BY i.missing_since IS NULL DESC, i.first_seen_at DESC, i.session_id DESC LIMIT 1`;
    const [inverter] = await this.database.query<InverterRecord>({ name: 'find_inverter', text }, [id]);
    if (inverter === undefined) throw new Problem('not_found', `There is no inverter ${id}`);
    return inverter;
  }

  /** Newest first: at most `limit` inverters that come after `position`. */
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

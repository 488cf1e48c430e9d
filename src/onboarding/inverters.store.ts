import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { Problem } from '../platform/problem/problem.js';

/** An inverter with the session that listed it last. */
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

/** The order of the list: by first sight, newest first. */
export interface InverterPosition {
  readonly firstSeenAt: Date;
  readonly id: string;
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

/** Inverters as they are answered. Several sessions may have listed the same one: the last to list it speaks for it. */
@Injectable()
export class InvertersStore {
  constructor(private readonly database: Database) {}

  /** Throws Problem not_found. */
  async getInverter(id: string): Promise<InverterRecord> {
    const text = `${SELECT} WHERE i.id = $1 ORDER BY i.missing_since IS NULL DESC, i.first_seen_at DESC LIMIT 1`;
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
    const conditions = [
      // A later session that lists the same inverter speaks for it.
      `NOT EXISTS (SELECT 1 FROM inverters later WHERE later.id = i.id
         AND (later.missing_since IS NULL, later.first_seen_at, later.session_id) > (i.missing_since IS NULL, i.first_seen_at, i.session_id))`,
    ];
    const add = (column: string, value: unknown) => {
      if (value === undefined) return;
      values.push(value);
      conditions.push(`${column} = $${values.length}`);
    };
    add('s.user_id', filter.userId);
    add('s.grid_location_id', filter.gridLocationId);
    if (position !== undefined) {
      values.push(position.firstSeenAt, position.id);
      conditions.push(`(i.first_seen_at, i.id) < ($${values.length - 1}, $${values.length}::uuid)`);
    }
    const order = `ORDER BY i.first_seen_at DESC, i.id DESC LIMIT ${limit}`;
    return this.database.query<InverterRecord>(
      `${SELECT} WHERE ${conditions.join(' AND ')} ${order}`,
      values,
    );
  }
}

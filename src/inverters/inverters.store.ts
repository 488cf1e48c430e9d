import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import type { Page } from '../platform/http/page.js';
import { INVERTERS, SELECT_INVERTER, type InvertersQuery, type InverterView } from './inverters.list.js';

type InverterRow = Omit<InverterView, 'object'>;

/**
 * Returns the condition that selects one session per inverter and owner. Prefers a session that still lists the inverter, and of these the
 * latest.
 */
// PostgreSQL must search the owner's few sessions, not the index on inverter ids: if all inverters had the same id, each row would be
// compared with every other. A scalar subquery rules out a join. BETWEEN instead of = makes the planner overestimate the cost of the index.
const isLatestOf = (owner: 'user_id' | 'grid_location_id'): string => `
  NOT EXISTS (SELECT FROM onboarding_sessions other
               WHERE other.${owner} = s.${owner}
                 AND (SELECT (later.missing_since IS NULL, later.first_seen_at, later.session_id)
                             > (i.missing_since IS NULL, i.first_seen_at, i.session_id)
                        FROM inverters later WHERE later.session_id = other.id AND later.id BETWEEN i.id AND i.id))`;

/** Reads inverters across the sessions that list them. */
@Injectable()
export class InvertersStore {
  constructor(private readonly database: Database) {}

  /**
   * Returns the inverter from one of its sessions. Prefers a session that still lists the inverter, and of these the latest that found it.
   */
  async find(id: string): Promise<InverterRow | null> {
    const text = `${SELECT_INVERTER} WHERE i.id = $1 ORDER BY i.missing_since IS NULL DESC, i.first_seen_at DESC, i.session_id DESC LIMIT 1`;
    const [inverter] = await this.database.query<InverterRow>(text, [id]);
    return inverter ?? null;
  }

  /** Lists inverters, newest first. An inverter that several users have is returned for each of them. */
  list(query: InvertersQuery): Promise<Page<InverterRow>> {
    const isLatest = isLatestOf(query.gridLocationId === undefined ? 'user_id' : 'grid_location_id');
    return INVERTERS.page(this.database, query, [isLatest]);
  }
}

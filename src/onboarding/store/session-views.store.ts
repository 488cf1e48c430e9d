import { Injectable } from '@nestjs/common';
import { Cipher } from '../../platform/crypto/cipher.js';
import { Database } from '../../platform/database/database.js';
import { parseJsonTimestamp } from '../../platform/database/timestamps.js';
import { Problem } from '../../platform/problem/problem.js';
import { OPEN_STATES } from '../rules/machine.rules.js';
import type { Basis, SessionState } from '../rules/machine.rules.js';
import * as sql from './sessions.sql.js';
import { startUrlContext } from '../start/start-urls.sql.js';

/** A session as the API returns it, with startUrl still encrypted. */
export interface SessionRow {
  readonly id: string;
  readonly userId: string;
  readonly gridLocationId: string;
  readonly tenantReference: string | null;
  readonly brand: string | null;
  readonly metadata: Record<string, unknown>;
  readonly state: SessionState;
  readonly basis: Basis;
  readonly finished: boolean;
  readonly active: boolean;
  readonly expired: boolean | null;
  readonly startUrlCiphertext: Buffer | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly expiresAt: Date;
  readonly closedAt: Date | null;
  readonly changedAt: Date;
  readonly checkedAt: Date;
  readonly nextCheckAt: Date | null;
  /** The database's clock when the row was read. */
  readonly now: Date;
  readonly inverters: readonly InverterRow[];
}

export interface InverterRow {
  readonly id: string;
  readonly firstSeenAt: Date;
  readonly lastSeenAt: Date;
  readonly missingSince: Date | null;
}

export interface SessionFilter {
  readonly state?: SessionState;
  readonly userId?: string;
  readonly gridLocationId?: string;
  readonly tenantReference?: string;
  readonly brand?: string;
  readonly updatedSince?: Date;
}

/** Position in the list: by the last change of our record, then by id. */
export interface ListPosition {
  readonly changedAt: Date;
  readonly id: string;
}

/** json_agg writes timestamps as text. */
interface RawSession extends Omit<SessionRow, 'inverters'> {
  readonly inverters: readonly {
    id: string;
    firstSeenAt: string;
    lastSeenAt: string;
    missingSince: string | null;
  }[];
}

/** The default and the largest page size, plus one row each. Not every size, because PostgreSQL keeps a plan for each, per connection. */
const PREPARED_LIMITS = [51, 201];

/** Reads sessions for the API. Writes nothing. */
@Injectable()
export class SessionAnswersStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
  ) {}

  /** Throws Problem not_found. */
  async getSession(id: string): Promise<SessionRow> {
    const [row] = await this.database.query<RawSession>(sql.FIND_SESSION, [id]);
    if (row === undefined) throw new Problem('not_found', `There is no session ${id}`);
    return toSession(row);
  }

  /** Returns at most `limit` sessions, the longest unchanged first. */
  async listSessions(
    filter: SessionFilter,
    after: ListPosition | undefined,
    limit: number,
  ): Promise<SessionRow[]> {
    const values: unknown[] = [];
    const conditions: string[] = [];
    const add = (condition: (parameter: string) => string, value: unknown) => {
      if (value === undefined) return;
      values.push(value);
      conditions.push(condition(`$${values.length}`));
    };
    add((p) => `s.state = ${p}`, filter.state);
    add((p) => `s.user_id = ${p}`, filter.userId);
    add((p) => `s.grid_location_id = ${p}`, filter.gridLocationId);
    add((p) => `u.tenant_reference = ${p}`, filter.tenantReference);
    add((p) => `s.brand = ${p}`, filter.brand);
    add((p) => `s.changed_at >= ${p}`, filter.updatedSince);
    const isAll = conditions.length === 0 && PREPARED_LIMITS.includes(limit);
    if (after !== undefined) {
      values.push(after.changedAt, after.id);
      conditions.push(`(s.changed_at, s.id) > ($${values.length - 1}, $${values.length}::uuid)`);
    }
    const statement = isAll ? sql.listAllSessions(conditions, limit) : sql.listSessions(conditions, limit);
    const rows = await this.database.query<RawSession>(statement, values);
    return rows.map(toSession);
  }

  /** Returns the states of those sessions that are still watched; the others no longer change. */
  async findWatchedStates(ids: readonly string[]): Promise<Map<string, SessionState>> {
    const rows = await this.database.query<{ id: string; state: SessionState }>(sql.FIND_WATCHED_STATES, [
      ids,
    ]);
    return new Map(rows.map(({ id, state }) => [id, state]));
  }

  /** Returns the startUrl, or null if the web flow is no longer open. */
  findStartUrl({ id, state, closedAt, startUrlCiphertext }: SessionRow): string | null {
    if (startUrlCiphertext === null || closedAt !== null || !OPEN_STATES.includes(state)) return null;
    return this.cipher.decrypt(startUrlCiphertext, startUrlContext(id));
  }
}

function toSession(row: RawSession): SessionRow {
  const inverters = row.inverters.map(({ id, firstSeenAt, lastSeenAt, missingSince }) => {
    const first = parseJsonTimestamp(firstSeenAt);
    // An inverter that is not missing was seen at every good read since, which is not recorded. A read counts from its claim, a moment
    // before its inverters are first seen.
    const last = missingSince === null ? row.checkedAt : parseJsonTimestamp(lastSeenAt);
    return {
      id,
      firstSeenAt: first,
      lastSeenAt: last < first ? first : last,
      missingSince: missingSince === null ? null : parseJsonTimestamp(missingSince),
    };
  });
  return Object.assign(row, { inverters });
}

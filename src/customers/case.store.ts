import { Injectable } from '@nestjs/common';
import { SELECT_SESSION } from '../onboarding/store/sessions.sql.js';
import { toSession, type RawSession, type SessionRow } from '../onboarding/store/session-views.store.js';
import type { StartRow } from '../starts/starts.list.js';
import { Database } from '../platform/database/database.js';
import { stallOf } from '../stalls/stalls.sql.js';
import { SELECT_INVITATION } from '../invitations/invitations.sql.js';
import type { InvitationRow } from '../invitations/invitations.store.js';
import { MOST_OF_EACH } from './case.view.js';

interface Place {
  readonly gridLocationId: string;
  readonly ean: string;
  readonly userId: string;
  readonly tenantReference: string;
  /** The database's clock. */
  readonly now: Date;
}

/** The records about a location, each list with the newest first. */
export interface RecordedCase extends Place {
  readonly sessions: SessionRow[];
  readonly starts: StartRow[];
  readonly invitations: InvitationRow[];
}

const FIND_PLACES = `
    SELECT g.id AS "gridLocationId", g.ean, u.id AS "userId", u.tenant_reference AS "tenantReference", clock_timestamp() AS now
      FROM grid_locations g JOIN users u ON u.id = g.user_id
     WHERE u.erased_at IS NULL AND (g.id = $1::uuid OR g.user_id = ANY ($2::uuid[]))
     ORDER BY u.id, g.ean`;

// Uses LATERAL instead of row_number(), because LATERAL reads only the newest rows of each location.
const newestOf = (table: 'session_starts' | 'invitations') => `
    unnest($1::uuid[]) AS place (id) CROSS JOIN LATERAL (
      SELECT * FROM ${table} WHERE grid_location_id = place.id ORDER BY created_at DESC, id DESC LIMIT ${MOST_OF_EACH})`;

/** Lists the newest sessions of each location. If there are more, prefers the current and the online sessions. */
// Selects by an array of ids instead of a join, so that the planner expects few sessions.
const LIST_SESSIONS = `${SELECT_SESSION}
     WHERE s.id = ANY (ARRAY(
       SELECT recent.id FROM unnest($1::uuid[]) AS place (id) CROSS JOIN LATERAL (
         SELECT id FROM onboarding_sessions WHERE grid_location_id = place.id
          ORDER BY superseded_at IS NULL OR state = 'online' DESC, recorded_at DESC LIMIT ${MOST_OF_EACH}) AS recent))
     ORDER BY s.recorded_at DESC, s.id`;

const LIST_STARTS = `
    SELECT st.id, g.id AS "gridLocationId", u.id AS "userId", u.tenant_reference AS "tenantReference", st.brand, st.status,
           st.last_error AS error, st.attempts, st.orphans, st.session_id AS "sessionId", st.created_at AS "createdAt",
           st.updated_at AS "updatedAt", ${stallOf('start', 'st.id')} AS stalled
      FROM ${newestOf('session_starts')} AS st
      JOIN grid_locations g ON g.id = st.grid_location_id
      JOIN users u ON u.id = g.user_id
     ORDER BY st.created_at DESC, st.id DESC`;

// Uses ARRAY instead of a semi-join: because of its estimate of unnest, PostgreSQL would read the whole table for a semi-join.
const LIST_INVITATIONS = `${SELECT_INVITATION}
     WHERE i.erased_at IS NULL AND i.id = ANY (ARRAY(SELECT newest.id FROM ${newestOf('invitations')} AS newest))
     ORDER BY i.created_at DESC, i.id DESC`;

/** Reads the cases of locations with four statements, however many locations there are. */
@Injectable()
export class CaseStore {
  constructor(private readonly database: Database) {}

  /** Returns the case of the location, unless its user is erased. */
  async find(gridLocationId: string): Promise<RecordedCase | null> {
    return (await this.list(gridLocationId, []))[0] ?? null;
  }

  /** Returns the cases of all locations of these users, ordered by EAN within a user. */
  listOfUsers = (userIds: readonly string[]): Promise<RecordedCase[]> => this.list(null, userIds);

  private async list(gridLocationId: string | null, userIds: readonly string[]): Promise<RecordedCase[]> {
    const places = await this.database.query<Place>(FIND_PLACES, [gridLocationId, userIds]);
    const ids = places.map((place) => place.gridLocationId);
    if (ids.length === 0) return [];
    const [sessions, starts, invitations] = await Promise.all([
      this.database.query<RawSession>(LIST_SESSIONS, [ids]),
      this.database.query<StartRow>(LIST_STARTS, [ids]),
      this.database.query<InvitationRow>(LIST_INVITATIONS, [ids]),
    ]);
    const cases = places.map((place): RecordedCase => ({
      ...place,
      sessions: [],
      starts: [],
      invitations: [],
    }));
    const caseOf = new Map(cases.map((each) => [each.gridLocationId, each]));
    for (const each of sessions.map(toSession)) caseOf.get(each.gridLocationId)?.sessions.push(each);
    for (const each of starts) caseOf.get(each.gridLocationId)?.starts.push(each);
    for (const each of invitations) caseOf.get(each.gridLocationId)?.invitations.push(each);
    return cases;
  }
}

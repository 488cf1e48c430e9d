import { Injectable } from '@nestjs/common';
import { SELECT_SESSION } from '../onboarding/store/sessions.sql.js';
import { toSession, type RawSession, type SessionRow } from '../onboarding/store/session-views.store.js';
import { SELECT_START, type StartRow } from '../starts/starts.list.js';
import { Database } from '../platform/database/database.js';
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

/** Matches the newest rows of each location by their ids. */
// Uses LATERAL, which reads only these rows, and ARRAY instead of a semi-join: because of its estimate of unnest, PostgreSQL would read the
// whole table for a semi-join.
const ofNewest = (table: string, order = 'created_at DESC, id DESC') => `= ANY (ARRAY(
       SELECT newest.id FROM unnest($1::uuid[]) AS place (id) CROSS JOIN LATERAL (
         SELECT id FROM ${table} WHERE grid_location_id = place.id ORDER BY ${order} LIMIT ${MOST_OF_EACH}) AS newest))`;

/** If there are more, prefers the current and the online sessions. */
const NEWEST_SESSIONS = ofNewest(
  'onboarding_sessions',
  `superseded_at IS NULL OR state = 'online' DESC, recorded_at DESC`,
);
const LIST_SESSIONS = `${SELECT_SESSION} WHERE s.id ${NEWEST_SESSIONS} ORDER BY s.recorded_at DESC, s.id`;

const LIST_STARTS = `${SELECT_START} WHERE t.id ${ofNewest('session_starts')} ORDER BY t.created_at DESC, t.id DESC`;

const LIST_INVITATIONS = `${SELECT_INVITATION}
     WHERE i.erased_at IS NULL AND i.id ${ofNewest('invitations')} ORDER BY i.created_at DESC, i.id DESC`;

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

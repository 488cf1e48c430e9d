import { prepared } from '../../platform/database/database.js';
import type { Environment } from '../../platform/env/environment.js';
import type { DeclaredKind, SubjectFacts } from '../../stalls/stall-kinds.js';
import { CHECKED_AT, JOIN_POLL } from '../store/sessions.sql.js';
import { SESSION_CAUSES } from './session.causes.rules.js';
import {
  stallOfSession,
  UNREACHABLE_MS,
  UNREACHABLE_READS,
  type SessionFacts,
} from './session.stall.rules.js';
import { START_CAUSES, stallOfStart, type StartFacts } from './start.stall.rules.js';

const HOUR_MS = 3_600_000;

const FAILS_SINCE = `greatest(${CHECKED_AT}, p.failing_since)`;
const IS_UNREACHABLE = `p.failures >= ${UNREACHABLE_READS} AND ${FAILS_SINCE} <= now() - ${UNREACHABLE_MS} * interval '1 millisecond'`;

// Others are served if the replicas consider the remote service healthy, and another session has been read since the last of these sessions
// began to fail. PostgreSQL evaluates this once for all sessions. EXISTS ends at the first such poll; only if there is none, it reads all.
const ARE_OTHERS_SERVED = `
           NOT EXISTS (SELECT FROM remote_operations o WHERE o.operation IN ('token', 'read_session') AND o.health <> 'healthy')
           AND EXISTS (SELECT FROM session_polls other WHERE other.failures = 0 AND other.checked_at > (SELECT since FROM latest))`;

const FIND_SESSION_FACTS = prepared('onboarding.find_stall_facts')`
    WITH latest AS (
      SELECT max(${FAILS_SINCE}) AS since FROM onboarding_sessions s ${JOIN_POLL} WHERE s.id = ANY ($1::uuid[]) AND ${IS_UNREACHABLE})
    SELECT s.id, s.user_id AS "userId", u.tenant_reference AS "tenantReference", s.grid_location_id AS "gridLocationId", s.brand,
           (SELECT r.campaign_id FROM registrations r WHERE r.user_id = s.user_id LIMIT 1) AS "campaignId",
           s.state, s.rule, s.state_changed_at AS "stateChangedAt", s.recorded_at AS "recordedAt", s.expires_at AS "expiresAt",
           s.finished, s.active, s.expired, s.closed_at AS "closedAt", s.close_reason AS "closeReason",
           s.superseded_at IS NOT NULL AS "isSuperseded", p.session_id IS NOT NULL AS "isWatched", ${CHECKED_AT} AS "checkedAt",
           p.due_at AS "nextCheckAt", coalesce(p.failures, 0) AS failures, ${FAILS_SINCE} AS "failingSince",
           coalesce(p.not_found, 0) AS "notFound", p.not_found_since AS "notFoundSince",
           coalesce(${IS_UNREACHABLE} AND ${ARE_OTHERS_SERVED}, false) AS "areOthersServed",
           p.flapping_since AS "flappingSince", p.changes_clear_at AS "changesClearAt",
           inverters.listed, inverters.missing, inverters."missingSince", w.p95_seconds AS "p95Seconds", w.known
      FROM onboarding_sessions s
      JOIN users u ON u.id = s.user_id ${JOIN_POLL}
      LEFT JOIN brand_waits w ON w.brand = s.brand
     CROSS JOIN LATERAL (
           SELECT count(*) FILTER (WHERE i.missing_since IS NULL)::int AS listed, count(i.missing_since)::int AS missing,
                  max(i.missing_since) AS "missingSince"
             FROM inverters i WHERE i.session_id = s.id) inverters
     WHERE s.id = ANY ($1::uuid[]) AND s.close_reason IS DISTINCT FROM 'erased'`;

export function sessionStalls({
  STALLED_OWNER_HOURS,
  STALLED_INSTALLATION_HOURS,
}: Environment): DeclaredKind<SubjectFacts & SessionFacts> {
  const thresholds = {
    ownerMs: STALLED_OWNER_HOURS * HOUR_MS,
    installationMs: STALLED_INSTALLATION_HOURS * HOUR_MS,
  };
  return {
    kind: 'session',
    causes: SESSION_CAUSES,
    facts: FIND_SESSION_FACTS,
    look: (facts, now) => stallOfSession(facts, thresholds, now),
  };
}

const FIND_START_FACTS = prepared('onboarding.find_start_stall_facts')`
    SELECT st.id, u.id AS "userId", u.tenant_reference AS "tenantReference", st.grid_location_id AS "gridLocationId", st.brand,
           (SELECT r.campaign_id FROM registrations r WHERE r.user_id = u.id LIMIT 1) AS "campaignId",
           st.status, st.created_at AS "createdAt", st.updated_at AS "updatedAt", st.attempts, st.orphans, st.last_error AS "lastError",
           st.status = 'failed' AND (
             EXISTS (SELECT FROM session_starts o WHERE o.grid_location_id = st.grid_location_id AND o.brand IS NOT DISTINCT FROM st.brand
                        AND (o.created_at, o.id) > (st.created_at, st.id))
             OR EXISTS (SELECT FROM onboarding_sessions s WHERE s.grid_location_id = st.grid_location_id
                           AND s.brand IS NOT DISTINCT FROM st.brand AND s.recorded_at >= st.created_at)) AS "isReplaced"
      FROM session_starts st
      JOIN grid_locations g ON g.id = st.grid_location_id
      JOIN users u ON u.id = g.user_id AND u.erased_at IS NULL
     WHERE st.id = ANY ($1::uuid[])`;

export const START_STALLS: DeclaredKind<SubjectFacts & StartFacts> = {
  kind: 'start',
  causes: START_CAUSES,
  facts: FIND_START_FACTS,
  look: stallOfStart,
};

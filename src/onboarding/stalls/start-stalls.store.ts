import { prepared } from '../../platform/database/database.js';
import type { DeclaredKind, SubjectFacts } from '../../stalls/stall-kinds.js';
import { START_CAUSES, stallOfStart, type StartFacts } from './start.stall.rules.js';

const FIND_FACTS = prepared('onboarding.find_start_stall_facts')`
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
  facts: FIND_FACTS,
  look: stallOfStart,
};

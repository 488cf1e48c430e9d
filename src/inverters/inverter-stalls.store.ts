import { prepared } from '../platform/database/database.js';
import type { DeclaredKind, SubjectFacts } from '../stalls/stall-kinds.js';
import { INVERTER_CAUSES, stallOfInverter, type InverterFacts } from './inverter.stall.rules.js';

/** An inverter that changed hands has two customers. */
const SHARED_BY = 5;
/** Bounds the cost if the remote service lists one inverter everywhere. */
const MOST_COUNTED = 1_000;

const FIND_INVERTER_FACTS = prepared('onboarding.find_inverter_stall_facts')`
    SELECT wanted.id, NULL AS "userId", NULL AS "tenantReference", NULL AS "gridLocationId", NULL AS brand, NULL AS "campaignId",
           count(*)::int AS customers, (array_agg(customer.at ORDER BY customer.at))[${SHARED_BY}] AS "sharedSince"
      FROM unnest($1::uuid[]) AS wanted (id)
     CROSS JOIN LATERAL (
           SELECT s.user_id, min(i.first_seen_at) AS at
             FROM (SELECT session_id, first_seen_at FROM inverters WHERE id = wanted.id AND missing_since IS NULL LIMIT ${MOST_COUNTED}) i
             JOIN onboarding_sessions s ON s.id = i.session_id GROUP BY s.user_id) customer
     GROUP BY wanted.id`;

export const INVERTER_STALLS: DeclaredKind<SubjectFacts & InverterFacts> = {
  kind: 'inverter',
  causes: INVERTER_CAUSES,
  facts: FIND_INVERTER_FACTS,
  look: stallOfInverter,
};

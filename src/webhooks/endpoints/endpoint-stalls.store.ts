import { prepared } from '../../platform/database/database.js';
import type { DeclaredKind, SubjectFacts } from '../../stalls/stall-kinds.js';
import { ENDPOINT_CAUSES, stallOfEndpoint, type EndpointFacts } from './endpoint.stall.rules.js';

const FIND_FACTS = prepared('webhooks.find_stall_facts')`
    SELECT id, NULL AS "userId", NULL AS "tenantReference", NULL AS "gridLocationId", NULL AS brand, NULL AS "campaignId",
           disabled_at AS "disabledAt", disabled_reason AS "disabledReason", failures, failing_since AS "failingSince"
      FROM webhook_endpoints WHERE id = ANY ($1::uuid[]) AND handler IS NULL`;

export const ENDPOINT_STALLS: DeclaredKind<SubjectFacts & EndpointFacts> = {
  kind: 'endpoint',
  causes: ENDPOINT_CAUSES,
  facts: FIND_FACTS,
  look: stallOfEndpoint,
};

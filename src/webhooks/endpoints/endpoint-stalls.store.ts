import { Injectable } from '@nestjs/common';
import { prepared, type Sql } from '../../platform/database/database.js';
import { StallKinds, type SubjectFacts } from '../../stalls/stall-kinds.js';
import { ENDPOINT_CAUSES, stallOfEndpoint, type EndpointFacts } from './endpoint.stall.rules.js';

const FIND_FACTS = prepared('webhooks.find_stall_facts')`
    SELECT id, NULL AS "userId", NULL AS "tenantReference", NULL AS "gridLocationId", NULL AS brand, NULL AS "campaignId",
           disabled_at AS "disabledAt", disabled_reason AS "disabledReason", failures, failing_since AS "failingSince"
      FROM webhook_endpoints WHERE id = ANY ($1::uuid[]) AND handler IS NULL`;

/** Declares the stalls of webhook endpoints. */
@Injectable()
export class EndpointStalls {
  constructor(kinds: StallKinds) {
    kinds.declare<SubjectFacts & EndpointFacts>({
      kind: 'endpoint',
      causes: ENDPOINT_CAUSES,
      scope: 'webhooks:manage',
      findFacts: (sql: Sql, ids) => sql.query(FIND_FACTS, [ids]),
      look: stallOfEndpoint,
    });
  }
}

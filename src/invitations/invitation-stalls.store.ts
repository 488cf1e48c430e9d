import { Injectable } from '@nestjs/common';
import { prepared, type Sql } from '../platform/database/database.js';
import { Environment } from '../platform/env/environment.js';
import { StallKinds, type SubjectFacts } from '../stalls/stall-kinds.js';
import { INVITATION_CAUSES, invitationAges, stallOfInvitation } from './invitation.stall.rules.js';
import { INVITATIONS, STATE } from './invitations.sql.js';

const FIND_FACTS = prepared('invitations.find_stall_facts')`
    SELECT i.id, u.id AS "userId", u.tenant_reference AS "tenantReference", i.grid_location_id AS "gridLocationId",
           CASE WHEN cardinality(i.brands) = 1 THEN i.brands[1] END AS brand, i.campaign_id AS "campaignId", ${STATE} AS state,
           i.awaits, i.awaits_since AS "awaitsSince", i.created_at AS "createdAt", i.opened_at AS "openedAt", i.started_at AS "startedAt",
           i.wished_at AS "wishedAt", i.wish_due_at AS "wishDueAt", i.wish_failed_at AS "wishFailedAt", i.expires_at AS "expiresAt",
           NOT EXISTS (SELECT FROM remote_operations o WHERE o.operation IN ('token', 'start_session')
                         AND (o.health <> 'healthy' OR o.open_until IS NOT NULL OR o.quiet_until > now())) AS "isServed"
      FROM ${INVITATIONS}
     WHERE i.id = ANY ($1::uuid[]) AND i.erased_at IS NULL AND u.erased_at IS NULL`;

/** Declares the stalls of invitations. */
@Injectable()
export class InvitationStalls {
  constructor(kinds: StallKinds, environment: Environment) {
    const ages = invitationAges(environment);
    kinds.declare<SubjectFacts & Parameters<typeof stallOfInvitation>[0]>({
      kind: 'invitation',
      causes: INVITATION_CAUSES,
      scope: 'onboarding:read',
      findFacts: (sql: Sql, ids) => sql.query(FIND_FACTS, [ids]),
      look: (facts, now) => stallOfInvitation(facts, ages, now),
    });
  }
}

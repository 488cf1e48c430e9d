import { prepared } from '../platform/database/database.js';
import type { Environment } from '../platform/env/environment.js';
import { FAILING_BRANDS } from '../brands/brands.store.js';
import { isSent } from '../remote/shared/operations.store.js';
import type { DeclaredKind, SubjectFacts } from '../stalls/stall-kinds.js';
import { START_STALLS } from '../onboarding/stalls/session-stalls.store.js';
import type { StartFacts } from '../onboarding/stalls/start.stall.rules.js';
import {
  INVITATION_CAUSES,
  invitationAges,
  isLeftToOwner,
  stallOfInvitation,
} from './invitation.stall.rules.js';
import {
  ACCESS_WITHDRAWN_AT,
  INVITATIONS,
  IS_RENEWED,
  IS_REPLACED,
  LIVE,
  MAY_BE_ACCESSED,
  STATE,
  STEP_FACTS,
} from './invitations.sql.js';

const FIND_FACTS = prepared('invitations.find_stall_facts')`
    SELECT i.id, u.id AS "userId", u.tenant_reference AS "tenantReference", i.grid_location_id AS "gridLocationId",
           CASE WHEN cardinality(i.brands) = 1 THEN i.brands[1] END AS brand, i.campaign_id AS "campaignId", ${STATE} AS state, ${STEP_FACTS},
           i.awaits_since AS "awaitsSince", i.bounced_channel AS "bouncedChannel",
           i.renewal_requested_at AS "renewalRequestedAt", i.declined_at IS NOT NULL AND ${IS_REPLACED} AS "isReplaced",
           i.renewal_requested_at IS NOT NULL AND ${IS_RENEWED} AS "isRenewed",
           ${ACCESS_WITHDRAWN_AT} AS "accessWithdrawnAt", ${MAY_BE_ACCESSED} AS "mayBeAccessed", ${isSent('start_session')}
             AND (i.wish_brand = ANY (${FAILING_BRANDS})) IS NOT TRUE AS "isServed"
      FROM ${INVITATIONS}
     WHERE i.id = ANY ($1::uuid[]) AND i.erased_at IS NULL AND u.erased_at IS NULL`;

export function invitationStalls(
  environment: Environment,
): DeclaredKind<SubjectFacts & Parameters<typeof stallOfInvitation>[0]> {
  const ages = invitationAges(environment);
  return {
    kind: 'invitation',
    causes: INVITATION_CAUSES,
    facts: FIND_FACTS,
    look: (facts, now) => stallOfInvitation(facts, ages, now),
  };
}

const FIND_START_FACTS = prepared('invitations.find_start_stall_facts')`
    SELECT f.*, i.created_at AS "linkedAt", i.wish_due_at AS "wishDueAt"
      FROM (${START_STALLS.facts.text}) f LEFT JOIN invitations i ON i.grid_location_id = f."gridLocationId" AND ${LIVE}`;

/** The stalls of starts, without the failed starts that an owner can repeat. */
export const STARTS_OF_OWNERS: DeclaredKind<
  SubjectFacts & StartFacts & { readonly linkedAt: Date | null; readonly wishDueAt: Date | null }
> = {
  ...START_STALLS,
  facts: FIND_START_FACTS,
  look(facts, now) {
    const { stall, lookAgainAt } = START_STALLS.look(facts, now);
    return { stall: isLeftToOwner(facts, facts) ? null : stall, lookAgainAt };
  },
};

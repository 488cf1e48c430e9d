import { prepared } from '../../platform/database/database.js';
import { isSent } from '../../remote/shared/operations.store.js';
import type { DeclaredKind, SubjectFacts } from '../../stalls/stall-kinds.js';
import { REGISTRATION_CAUSES, stallOfRegistration } from './registration.stall.rules.js';
import type { RegistrationFacts } from './registration.stall.rules.js';
import { LIVE } from './registrations.sql.js';

const FIND_FACTS = prepared('registrations.find_stall_facts')`
    SELECT r.id, r.user_id AS "userId", r.tenant_reference AS "tenantReference", NULL AS "gridLocationId", NULL AS brand,
           r.campaign_id AS "campaignId", r.status, r.created_at AS "createdAt", r.updated_at AS "updatedAt", r.sent_at AS "sentAt",
           r.attempts, r.last_error AS "lastError",
           r.status = 'rejected' AND EXISTS (
             SELECT FROM registrations WHERE tenant_reference = r.tenant_reference
                AND (${LIVE} OR (status = 'rejected' AND (created_at, id) > (r.created_at, r.id)))) AS "isReplaced",
           ${isSent('register_user')} AS "isServed"
      FROM registrations r WHERE r.id = ANY ($1::uuid[])`;

export const REGISTRATION_STALLS: DeclaredKind<SubjectFacts & RegistrationFacts> = {
  kind: 'registration',
  causes: REGISTRATION_CAUSES,
  facts: FIND_FACTS,
  look: stallOfRegistration,
};

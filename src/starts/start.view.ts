import { START_STATUSES, type StartStatus } from '../onboarding/rules/start-failure.rules.js';
import * as schema from '../platform/openapi/schema-of.js';
import { STALLED_FIELD } from '../stalls/stalled.view.js';

export class StartView extends schema.resourceOf('start', {
  id: schema.uuid(),
  gridLocationId: schema.uuid(),
  userId: schema.uuid(),
  tenantReference: schema.nullable(schema.text('null once the user has been erased')),
  brand: schema.nullable(schema.text()),
  status: schema.oneOf<StartStatus>(
    START_STATUSES,
    'sending: the call is in flight, or its outcome is being stored. started: see sessionId. failed: there is no session, and `error` says why.',
  ),
  error: schema.nullable(
    schema.text('Why the last call that returned no session did not, in words; null if there was none'),
  ),
  attempts: schema.count('How often it was sent, or was about to be sent'),
  orphans: schema.count(
    'How many sessions the remote service may have started for it whose id nobody knows; they expire there unused',
  ),
  sessionId: schema.nullable(schema.uuid('Only if started')),
  stalled: STALLED_FIELD,
  createdAt: schema.instant(),
  updatedAt: schema.instant(),
}) {}

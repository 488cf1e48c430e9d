import { formatSequence } from '../../events/cloud-event.js';
import { LAST_SEQUENCE } from '../../events/sequence.dto.js';
import * as schema from '../../platform/openapi/schema-of.js';
import type { StallViews } from '../../stalls/stall-views.service.js';
import { STALLED_FIELD } from '../../stalls/stalled.view.js';
import type { Metadata } from '../metadata.rules.js';
import { WARNINGS } from '../user/user.view.js';
import { REGISTRATION_STATUSES } from './registration.rules.js';
import type { RegistrationRecord } from './registrations.store.js';

class RequestedGridLocationView extends schema.schemaOf({
  ean: schema.field<string>({ type: String, pattern: '^[0-9]{18}$' }),
}) {}

const FIELDS = {
  id: schema.uuid(),
  tenantReference: schema.text(),
  gridLocations: schema.listOf(RequestedGridLocationView, 'In the order sent'),
  status: schema.oneOf(
    REGISTRATION_STATUSES,
    'pending: not sent yet, or being sent. registered: see userId. rejected: the remote service refused it. ' +
      'uncertain: the remote service may have registered it; a person decides. discarded: a person gave it up.',
  ),
  userId: schema.nullable(schema.uuid('Only if registered')),
  attempts: schema.count('Number of calls started for it'),
  lastError: schema.nullable(schema.text('Why the last call returned no user, in words')),
  nextAttemptAt: schema.nullable(schema.instant('When a pending registration is sent next')),
  metadata: schema.object<Metadata>('As given in the request that created it'),
  stalled: STALLED_FIELD,
  createdAt: schema.instant(),
  updatedAt: schema.instant(),
  sequence: LAST_SEQUENCE,
};
export class RegistrationView extends schema.resourceOf('registration', FIELDS) {}
export class OpenRegistrationView extends schema.resourceOf('registration', {
  ...FIELDS,
  warnings: WARNINGS,
}) {}

export function toRegistrationView(row: RegistrationRecord, stalls: StallViews): RegistrationView {
  const { id, tenantReference, eans, sequence, campaignId: _c, isBeingSent: _s, isDue: _d, ...rest } = row;
  const gridLocations = eans.map((ean) => ({ ean }));
  return RegistrationView.of({
    id,
    tenantReference,
    gridLocations,
    ...rest,
    stalled: stalls.view('registration', row, row.stalled),
    sequence: sequence && formatSequence(sequence),
  });
}

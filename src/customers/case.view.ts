import { SESSION } from '../onboarding/api/sessions.view.js';
import { StartView } from '../onboarding/api/starts.view.js';
import * as schema from '../platform/openapi/schema-of.js';
import { RegistrationView } from '../users/registration/registration.view.js';
import { UserView } from '../users/user/user.view.js';
import { INVITATION } from '../invitations/invitation.view.js';
import { MOST_OF_EACH } from './case.store.js';
import { WAITS_FOR } from './decision.rules.js';

class CaseExpectedView extends schema.schemaOf({
  brands: schema.texts('Those that the owner is asked to connect; empty if any will do'),
  inverters: schema.nullable(schema.count('null if the invitation says no number')),
}) {}
class CaseOnlineView extends schema.schemaOf({
  brands: schema.texts('Those of the online sessions'),
  inverters: schema.count('Those of online sessions that the remote service lists'),
}) {}
class CaseMissingView extends schema.schemaOf({
  brands: schema.texts('Expected, and without an online session'),
  inverters: schema.nullable(schema.count('null if no number is expected')),
}) {}
class CaseSessionView extends schema.schemaOf(SESSION) {}
class CaseInvitationView extends schema.schemaOf(INVITATION) {}

const DECISION = {
  waitsFor: schema.oneOf(
    WAITS_FOR,
    'tenant: a person of yours must decide or repair something. remote_service: a call is in flight or is repeated by itself. ' +
      'invitation: the owner has no valid link. owner: to finish the web flow. installation: to come online. nobody: all is online.',
  ),
  why: schema.text('In one sentence'),
  next: schema.text('What happens or what to do next, in one sentence'),
};

const newest = (what: string) => `The newest ${MOST_OF_EACH} at most, the newest first; ${what}`;

export class CaseView extends schema.schemaOf({
  gridLocationId: schema.uuid('The remote id of the grid location'),
  ean: schema.field<string | null>(
    { type: String, pattern: '^[0-9]{18}$', nullable: true },
    'Always 18 digits; null without the scope `users:read`',
  ),
  userId: schema.uuid('The user of the grid location'),
  tenantReference: schema.text('That of the user'),
  ...DECISION,
  expected: schema.view(CaseExpectedView, 'What the newest invitation says'),
  online: schema.view(CaseOnlineView, 'What the sessions of the location say'),
  missing: schema.view(CaseMissingView, 'What is expected and not online'),
  sessions: schema.withColumns(
    schema.listOf(CaseSessionView, newest('superseded ones are the first to be left out')),
    {
      SESSION: 'id',
      BRAND: 'brand:16',
      STATE: 'state',
      SINCE: 'stateChangedAt',
      INVERTERS: 'inverters',
    },
  ),
  starts: schema.withColumns(schema.listOf(StartView, newest('also those that failed')), {
    START: 'id',
    BRAND: 'brand:16',
    STATUS: 'status',
    AGE: 'createdAt',
    ERROR: 'error:20',
  }),
  invitations: schema.withColumns(schema.listOf(CaseInvitationView, newest('without their links')), {
    INVITATION: 'id',
    BRANDS: 'brands:16',
    STATE: 'state',
    AGE: 'createdAt',
    EXPIRES: 'expiresAt',
  }),
}) {}

export class CustomerView extends schema.schemaOf({
  tenantReference: schema.text('That of the registration and the user'),
  ...DECISION,
  registration: schema.nullable(
    schema.view(RegistrationView, 'The live one, else the newest; null if none is stored'),
  ),
  user: schema.nullable(schema.view(UserView, 'null until the remote service has registered the customer')),
  cases: schema.listOf(CaseView, 'One for each grid location, ordered by EAN'),
}) {}

export class CustomersView extends schema.schemaOf({ items: schema.listOf(CustomerView) }) {}

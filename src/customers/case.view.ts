import { SESSION } from '../onboarding/api/sessions.view.js';
import { StartView } from '../starts/start.view.js';
import { WAITS_FOR } from '../stalls/cause.rules.js';
import { RemedyView, StalledView } from '../stalls/stalled.view.js';
import * as schema from '../platform/openapi/schema-of.js';
import { RegistrationView } from '../users/registration/registration.view.js';
import { UserView } from '../users/user/user.view.js';
import { INVITATION } from '../invitations/invitation.view.js';

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
class BrandNameView extends schema.schemaOf({
  id: schema.text('As sessions, starts and invitations have it'),
  name: schema.text('As people know it, by INVERTER_BRANDS_FILE. Default: the id'),
}) {}
export class CaseSessionView extends schema.resourceOf('session', SESSION) {}
export class CaseInvitationView extends schema.resourceOf('invitation', INVITATION) {}

const WAITS = {
  waitsFor: schema.oneOf(WAITS_FOR, 'Who has to act next; nobody: all that is expected is online'),
  why: schema.text('In one sentence'),
  since: schema.nullable(schema.instant('Since when; null if it is unknown')),
  usuallyUntil: schema.nullable(
    schema.instant('Until when this usually lasts; null if it is unknown, or if something is stalled'),
  ),
  before: schema.nullable(schema.text('What a person has to do before the remedies, or without any')),
  remedies: schema.listOf(RemedyView, 'Operations that continue it; empty if there is none'),
  stalled: schema.nullable(
    schema.view(StalledView, 'The most urgent of what is stalled; null if all continues by itself'),
  ),
};
export type WaitsView = schema.ObjectOf<typeof WAITS>;

const BRAND_NAMES = schema.listOf(BrandNameView, 'The names of the brands in this response');

/** The most sessions, starts and invitations of each location in a response: a caller in a loop may create any number of them. */
export const MOST_OF_EACH = 50;

const newest = (what: string) => `The newest ${MOST_OF_EACH} at most, the newest first; ${what}`;

export class CaseView extends schema.resourceOf('case', {
  gridLocationId: schema.uuid('The remote id of the grid location'),
  ean: schema.field<string | null>(
    { type: String, pattern: '^[0-9]{18}$', nullable: true },
    'Always 18 digits; null without the scope `users:read`',
  ),
  userId: schema.uuid('The user of the grid location'),
  tenantReference: schema.text('That of the user'),
  ...WAITS,
  expected: schema.view(CaseExpectedView, 'What the newest invitation says'),
  online: schema.view(CaseOnlineView, 'What the sessions of the location say'),
  missing: schema.view(CaseMissingView, 'What is expected and not online'),
  brandNames: BRAND_NAMES,
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

const CAMPAIGN_ID = schema.nullable(
  schema.uuid('The campaign that has registered the customer; null if none has'),
);

export class CustomerView extends schema.resourceOf('customer', {
  tenantReference: schema.text('That of the registration and the user'),
  ...WAITS,
  campaignId: CAMPAIGN_ID,
  registration: schema.nullable(
    schema.view(RegistrationView, 'The live one, else the newest; null if none is stored'),
  ),
  user: schema.nullable(schema.view(UserView, 'null until the remote service has registered the customer')),
  cases: schema.listOf(CaseView, 'One for each grid location, ordered by EAN'),
}) {}

class ListedLocationView extends schema.schemaOf({
  id: schema.nullable(
    schema.uuid('The remote id; null until the remote service has registered the customer'),
  ),
  ean: schema.text('Always 18 digits'),
}) {}

export class ListedCustomerView extends schema.resourceOf('customer', {
  tenantReference: schema.text('That of the registration and the user'),
  registrationId: schema.nullable(
    schema.uuid('The live registration, else the newest; null if none is stored'),
  ),
  userId: schema.nullable(schema.uuid('null until the remote service has registered the customer')),
  gridLocations: schema.listOf(ListedLocationView, 'Ordered by EAN once the customer is registered'),
  ...WAITS,
  campaignId: CAMPAIGN_ID,
  brands: schema.texts('Those that the owners are asked to connect, and those of the newest sessions'),
  brandNames: BRAND_NAMES,
  createdAt: schema.instant('When the registration was requested'),
}) {}

export class CustomersView extends schema.schemaOf({ items: schema.listOf(CustomerView) }) {}

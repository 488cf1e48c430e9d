import * as schema from '../platform/openapi/schema-of.js';
import { STALL_KINDS } from '../stalls/cause.rules.js';
import { CAUSE, STALLED } from '../stalls/stalled.view.js';

export class StalledItemView extends schema.resourceOf('stall', {
  id: schema.uuid('Id of what is stalled'),
  kind: schema.oneOf(STALL_KINDS),
  ...STALLED,
  raisedAt: schema.instant('When it was announced'),
  tenantReference: schema.nullable(schema.text('That of the customer, if there is one')),
  gridLocationId: schema.nullable(schema.uuid()),
  brand: schema.nullable(schema.text()),
  campaignId: schema.nullable(schema.uuid('The campaign that brought the customer')),
  note: schema.nullable(schema.text('What a person has noted')),
  assignee: schema.nullable(schema.text('Who works on it')),
  snoozedUntil: schema.nullable(schema.instant('Until when it is left, unless its evidence changes earlier')),
}) {}

export class StalledGroupView extends schema.resourceOf('stall_group', {
  kind: schema.oneOf(STALL_KINDS),
  ...CAUSE,
  title: schema.text('The cause in one sentence, without evidence'),
  count: schema.count('How many there are'),
  new: schema.count('How many of these began within the last 24 hours'),
  oldest: schema.listOf(StalledItemView, 'The oldest of these, at most 10'),
}) {}

export class StalledGroupsView extends schema.schemaOf({ items: schema.listOf(StalledGroupView) }) {}

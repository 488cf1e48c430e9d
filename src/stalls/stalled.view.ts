import * as schema from '../platform/openapi/schema-of.js';
import { STALL_KINDS, URGENCIES, WAITS_FOR, type Evidence } from './cause.rules.js';

export class RemedyView extends schema.schemaOf({
  operationId: schema.text('An operation of this API'),
  method: schema.text(),
  path: schema.text('With the ids of what is stalled'),
  body: schema.nullable(
    schema.object<Readonly<Record<string, unknown>>>('null if there is none, or if a person has to write it'),
  ),
  label: schema.text('In a few words'),
  confirm: schema.nullable(schema.text('What cannot be undone, in words; null if it can')),
}) {}

const CAUSE = {
  cause: schema.text('Why it does not continue by itself: a code of the catalogue'),
  waitsFor: schema.oneOf(WAITS_FOR, 'Who has to act next; us: who operates the service'),
  urgency: schema.oneOf(
    URGENCIES,
    'now: every hour makes it worse. soon: within a day. later: a person may look.',
  ),
};

const STALLED = {
  ...CAUSE,
  since: schema.instant('When the trouble began; it counts only after a threshold'),
  evidence: schema.object<Evidence>('What was found, and the threshold'),
  text: schema.text('The cause in one sentence'),
  before: schema.nullable(schema.text('What a person has to do before the remedies, or without any')),
  remedies: schema.listOf(RemedyView, 'Operations that end it; empty if there is none'),
};

/** The field `stalled` of everything that can be stalled. */
export class StalledView extends schema.schemaOf(STALLED) {}

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

export const STALLED_FIELD = schema.nullable(
  schema.view(StalledView, 'Why it does not continue by itself, and what can be done; null if it does'),
);

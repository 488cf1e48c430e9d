import { PageQuery } from '../platform/http/page.js';
import { ChoiceParameter, UuidParameter } from '../platform/http/parameters.js';
import * as schema from '../platform/openapi/schema-of.js';

const KINDS = ['session', 'registration', 'start', 'inverter'] as const;

export class StuckQuery extends PageQuery {
  @ChoiceParameter(KINDS, 'Only this kind')
  kind?: (typeof KINDS)[number];

  @UuidParameter('Only the session, registration, start or inverter with this id')
  id?: string;
}

export class StuckView extends schema.schemaOf({
  kind: schema.oneOf(KINDS),
  id: schema.uuid('Id of the session, registration, start or inverter'),
  tenantReference: schema.nullable(schema.text('null once the user has been erased, and for an inverter')),
  reason: schema.text('What is wrong, in words without times and counts, so that it can be grouped'),
  since: schema.instant(),
  whatToDo: schema.text('The next step for a person'),
}) {}

export class StuckGroupView extends schema.schemaOf({
  kind: schema.oneOf(KINDS),
  reason: schema.text(),
  count: schema.count('How many there are'),
  new: schema.count('How many of these began within the last 24 hours'),
  oldest: schema.listOf(StuckView, 'The oldest of these, at most 50'),
}) {}

export class StuckGroupsView extends schema.schemaOf({
  items: schema.listOf(StuckGroupView, 'At most 200 groups'),
}) {}

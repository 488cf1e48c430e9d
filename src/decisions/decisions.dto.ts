import { Type } from 'class-transformer';
import { IsObject, ValidateNested } from 'class-validator';
import { Field } from '../platform/http/field.js';
import { InstantParameter } from '../platform/http/parameters.js';
import * as schema from '../platform/openapi/schema-of.js';
import type { RegistrationStatus } from '../users/registration/registration.rules.js';
import { REGISTRATIONS, type RegistrationsQuery } from '../users/registration/registrations.list.js';
import { GridLocationInput } from '../users/users.dto.js';
import { DECIDABLE } from './decision.rules.js';

export class DecisionCondition {
  @InstantParameter('Refused if the registration has changed at or after this instant')
  unchangedSince?: Date;
}

class ConfirmedGridLocationInput extends GridLocationInput {
  @Field({ required: true, format: 'uuid' })
  id: string;
}

/** The remote service's user object (interface section 2.3), for the OpenAPI document. Further properties are ignored, as in a response. */
export class ConfirmedUserInput extends schema.schemaOf({
  id: schema.uuid(),
  tenantReference: schema.text('The tenantReference of the registration'),
  gridLocations: schema.listOf(ConfirmedGridLocationInput, 'With every EAN of the registration'),
  tenantName: schema.optional(schema.text()),
  firstName: schema.optional(schema.text()),
  lastName: schema.optional(schema.text()),
  email: schema.optional(schema.text()),
  eanConfirmed: schema.optional(schema.flag('As in `POST /users`; not part of the user object')),
  createdAt: schema.optional(schema.instant('In the years 1 to 9999')),
  updatedAt: schema.optional(schema.instant('In the years 1 to 9999')),
}) {}

/** The most registrations in one call. Each takes a few milliseconds, so a call ends before usual clients time out. */
export const MAX_DECISIONS = 1_000;

const BULK_DECISIONS = ['retry', 'discard'] as const;
const { createdSince, createdBefore, lastError } = REGISTRATIONS.filters;

class DecisionFilter {
  @Field({ required: true, enum: DECIDABLE.retry })
  status: RegistrationStatus;

  @createdSince.parameter
  createdSince?: Date;

  @createdBefore.parameter
  createdBefore?: Date;

  @lastError.parameter
  lastError?: string;
}

export class BulkDecision {
  @Field({ required: true, enum: BULK_DECISIONS })
  decision: (typeof BULK_DECISIONS)[number];

  @Field({
    type: String,
    isArray: true,
    format: 'uuid',
    minItems: 1,
    maxItems: MAX_DECISIONS,
    description: 'The registrations. Give either these or `filter`',
  })
  ids?: string[];

  @Field({
    type: DecisionFilter,
    description: `Decides about all registrations that \`GET /registrations\` lists with these filters, at most ${MAX_DECISIONS} per call`,
  })
  @Type(() => DecisionFilter)
  @ValidateNested()
  // ValidateNested also accepts an array. An array has no filters, so the decision would apply to all registrations.
  @IsObject({ message: 'must be a JSON object' })
  filter?: DecisionFilter;

  @REGISTRATIONS.cursor
  cursor?: RegistrationsQuery['cursor'];

  @InstantParameter(
    'Leaves registrations as they are that have changed at or after this instant, such as one that was sent again since. Makes a repetition of the request harmless',
  )
  unchangedSince?: Date;
}

export class DecisionResultView extends schema.resourceOf('registration_decision', {
  id: schema.uuid(),
  ok: schema.flag('Whether the decision holds: it was applied now, or to discard, before'),
  code: schema.nullable(
    schema.text('If not: the code of the problem, `not_found` or `registration_conflict`'),
  ),
  detail: schema.nullable(schema.text('If not: why, for people')),
}) {}

export class DecisionsView extends schema.schemaOf({
  items: schema.listOf(DecisionResultView, 'One for each registration'),
  next: schema.nullable(
    schema.text('With `filter`: the `cursor` of the next call; null if no more registrations match'),
  ),
}) {}

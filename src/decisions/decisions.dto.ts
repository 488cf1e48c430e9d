import { Field } from '../platform/http/field.js';
import { InstantParameter } from '../platform/http/parameters.js';
import { flag, instant, listOf, optional, schemaOf, text, uuid } from '../platform/openapi/schema-of.js';
import { GridLocationInput } from '../users/users.dto.js';

export class DecisionCondition {
  @InstantParameter('Refused if the registration has changed at or after this instant')
  unchangedSince?: Date;
}

class ConfirmedGridLocationInput extends GridLocationInput {
  @Field({ required: true, format: 'uuid' })
  id: string;
}

/** The remote service's user object (interface section 2.3), for the OpenAPI document. Further properties are ignored, as in a response. */
export class ConfirmedUserInput extends schemaOf({
  id: uuid(),
  tenantReference: text('The tenantReference of the registration'),
  gridLocations: listOf(ConfirmedGridLocationInput, 'With every EAN of the registration'),
  tenantName: optional(text()),
  firstName: optional(text()),
  lastName: optional(text()),
  email: optional(text()),
  eanConfirmed: optional(flag('As in `POST /users`; not part of the user object')),
  createdAt: optional(instant('In the years 1 to 9999')),
  updatedAt: optional(instant('In the years 1 to 9999')),
}) {}

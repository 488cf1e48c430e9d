import type { Scope } from '../../access/scopes.js';
import { Field } from '../../platform/http/field.js';
import * as schema from '../../platform/openapi/schema-of.js';

/** The kinds of hits, each with the scope of a key that may see them. */
export const SCOPE_OF_HIT = {
  customer: 'users:read',
  registration: 'users:read',
  session: 'onboarding:read',
  invitation: 'onboarding:read',
  campaign: 'users:read',
} as const satisfies Readonly<Record<string, Scope>>;
export type HitKind = keyof typeof SCOPE_OF_HIT;
export const HIT_KINDS = Object.keys(SCOPE_OF_HIT) as HitKind[];

const MAX_TERM = 2_000;

export class SearchTerm {
  @Field({
    required: true,
    type: String,
    minLength: 1,
    maxLength: MAX_TERM,
    description: 'What a person has typed or pasted',
  })
  q: string;
}

export class HitView extends schema.resourceOf('search_hit', {
  kind: schema.oneOf(HIT_KINDS, 'What it is: customer is a user, registration one without a user yet'),
  id: schema.uuid('That of the user, registration, session, invitation or campaign'),
  label: schema.text('What a person knows it by: the reference, the label, the state or the name'),
  tenantReference: schema.nullable(schema.text('That of the customer; null for a campaign')),
}) {}

export class SearchView extends schema.schemaOf({ items: schema.listOf(HitView, 'By kind') }) {}

import { Field } from '../platform/http/field.js';
import {
  count,
  field,
  instant,
  nullable,
  resourceOf,
  shownOnce,
  text,
  uuid,
} from '../platform/openapi/schema-of.js';
import { visibleLineFault } from '../platform/spelling.rules.js';
import { SCOPES, type Scope } from '../access/scopes.js';

const MAX_NAME = 100;

export class NewApiKey {
  @Field({
    required: true,
    type: String,
    description: 'The app that uses this key, for people',
    minLength: 1,
    maxLength: MAX_NAME,
    faultOf: (value) => visibleLineFault(value, MAX_NAME),
  })
  name: string;

  @Field({
    required: true,
    enum: SCOPES,
    isArray: true,
    minItems: 1,
    uniqueItems: true,
    description:
      '`admin` includes all others. A scope that writes does not include the one that reads. An app that registers users, starts sessions and waits for them needs `users:write`, `onboarding:write` and `onboarding:read`, and `links:read` to see each `startUrl`',
  })
  scopes: Scope[];
}

const KEY = { id: uuid(), name: text(), scopes: field<readonly Scope[]>({ enum: SCOPES, isArray: true }) };

export class CreatedApiKeyView extends resourceOf('api_key', {
  ...KEY,
  key: shownOnce(text('The key. It is shown only once; only its hash is stored')),
  createdAt: instant(),
}) {}

export class ApiKeyView extends resourceOf('api_key', {
  ...KEY,
  createdAt: instant(),
  createdBy: text(
    'What created the key: `environment`, `cli`, `key:` followed by the id of a key, or one of these after `console:`; from the console also `console:oidc:` and a user',
  ),
  lastUsedAt: nullable(instant('Accurate to the minute')),
  refused401: count('Requests that were refused with 401 because the key is revoked'),
  refused403: count('Requests that were refused with 403 because the key lacks a scope'),
  refused429: count('Requests that were refused with 429'),
  lastRefusedAt: nullable(instant('Accurate to the minute')),
  revokedAt: nullable(instant('Every replica refuses the key within 5 seconds of this')),
}) {}

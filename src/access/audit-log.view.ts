import { count, instant, nullable, object, schemaOf, text } from '../platform/openapi/schema-of.js';

// Omits the request id: callers choose it, so it may contain a name.
export class AuditEntryView extends schemaOf({
  id: count('Order of recording'),
  at: instant(),
  actor: text('What did it, such as `key:` and the id of a key; after `console:`, a session of the console'),
  keyName: nullable(text('null if it was not a key of the list of keys')),
  action: text('An object and a past participle, such as `registration.resolved`'),
  target: nullable(text('Id of what it was done to')),
  details: object('Without secrets or personal data'),
}) {}

import { EVENT_NAMES, type EventName } from '../catalogue.rules.js';
import { toEventType } from '../cloud-event.js';
import { EVENT_SCHEMAS } from './event-schemas.js';

/** A JSON Schema as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Returns the schema of the whole CloudEvent. `open` allows unknown fields, since fields may be added under the same type. `closed`
 * forbids them, which reveals a forgotten field.
 */
export function schemaOfEvent(name: EventName, fields: 'open' | 'closed' = 'open'): JsonSchema {
  const { when, data } = EVENT_SCHEMAS[name];
  const properties = {
    specversion: { const: '1.0' },
    id: { type: 'string', format: 'uuid', description: 'The same at every delivery' },
    source: { type: 'string', format: 'uri-reference', description: '`EVENT_SOURCE` of the deployment' },
    type: { const: toEventType(name) },
    subject: {
      type: 'string',
      description: `The ${EVENT_SCHEMAS[name].subject}; events of one subject are in order`,
    },
    time: { type: 'string', format: 'date-time', description: 'When the fact was recorded' },
    datacontenttype: { const: 'application/json' },
    sequence: {
      type: 'string',
      pattern: '^[0-9]{19}$',
      description: 'Position in the feed: sorts as text in the order of the feed',
    },
    data,
  };
  return completed(
    { title: toEventType(name), description: `When ${when}`, type: 'object', properties },
    fields,
  ) as JsonSchema;
}

/** Returns the schemas of all events in one document, each under its type. */
export function schemaDocument(): JsonSchema {
  const types = EVENT_NAMES.map(toEventType);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Events of PV Onboarding',
    description:
      'CloudEvents 1.0 in the structured JSON form. Take it by `type`; one that is not listed is to be ignored',
    oneOf: types.map((type) => ({ $ref: `#/$defs/${type}` })),
    $defs: Object.fromEntries(EVENT_NAMES.map((name) => [toEventType(name), schemaOfEvent(name)])),
  };
}

/** Makes every named field of every object required. */
function completed(schema: unknown, fields: 'open' | 'closed'): unknown {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema;
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => [
    key,
    key === 'properties'
      ? Object.fromEntries(
          Object.entries(value as object).map(([name, each]) => [name, completed(each, fields)]),
        )
      : completed(value, fields),
  ]);
  if (!('properties' in schema)) return Object.fromEntries(entries);
  return {
    ...Object.fromEntries(entries),
    required: Object.keys(schema.properties as object),
    ...(fields === 'closed' && { additionalProperties: false }),
  };
}

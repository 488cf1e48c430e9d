import { EVENT_NAMES, type EventName } from '../../src/events/catalogue.rules.js';
import { toEventType } from '../../src/events/cloud-event.js';
import { TEST_TYPE } from '../../src/webhooks/endpoints/endpoints.service.js';
import { EVENT_SCHEMAS, object } from '../../src/events/event-schemas.rules.js';

export type JsonSchema = Readonly<Record<string, unknown>>;

const attributesOf = (type: string, subject: string) => ({
  specversion: { const: '1.0' },
  id: { type: 'string', format: 'uuid', description: 'The same in every delivery' },
  source: { type: 'string', format: 'uri-reference', description: '`EVENT_SOURCE` of the deployment' },
  type: { const: type },
  subject: { type: 'string', description: subject },
  time: { type: 'string', format: 'date-time', description: 'When the fact was recorded' },
  datacontenttype: { const: 'application/json' },
});

/** Returns the schema of the whole CloudEvent. It allows unknown fields, because a new field does not change the type. */
export function schemaOfEvent(name: EventName) {
  const { when, subject, data } = EVENT_SCHEMAS[name];
  const { properties, required } = object({
    ...attributesOf(toEventType(name), `The ${subject}; events of one subject are in order`),
    sequence: {
      type: 'string',
      pattern: '^[0-9]{19}$',
      description: 'Position in the feed: sorts as text in the order of the feed',
    },
    data,
  });
  const traceparent = {
    type: 'string',
    pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$',
    description: 'The trace of the event (W3C Trace Context); absent unless the deployment exports traces',
  };
  return {
    title: toEventType(name),
    description: `When ${when}`,
    type: 'object',
    properties: { ...properties, traceparent },
    required,
  };
}

const TEST_EVENT_SCHEMA = {
  title: TEST_TYPE,
  description: 'When a test is requested: POST /api/v1/webhook-endpoints/{id}/test',
  ...object({
    ...attributesOf(TEST_TYPE, 'The id of the webhook endpoint'),
    data: object({ endpointId: { type: 'string', format: 'uuid', description: 'Id of the endpoint' } }),
  }),
};

export const SCHEMAS_BY_TYPE = Object.fromEntries(
  EVENT_NAMES.map((name) => [toEventType(name), schemaOfEvent(name)]),
);

/** The schemas of all events that webhooks send, by type, including the test event. */
export const WEBHOOK_SCHEMAS = { ...SCHEMAS_BY_TYPE, [TEST_TYPE]: TEST_EVENT_SCHEMA };

/** The schemas for openapi.json: each event, any event of the feed (FeedEvent), and any event that a webhook endpoint receives (Event). */
export const OPENAPI_SCHEMAS = {
  ...WEBHOOK_SCHEMAS,
  FeedEvent: unionOf(SCHEMAS_BY_TYPE, 'Any event of the feed'),
  Event: unionOf(WEBHOOK_SCHEMAS, 'Any event, including the test event'),
};

function unionOf(schemas: JsonSchema, which: string): JsonSchema {
  const references = Object.keys(schemas).map((type) => [type, `#/components/schemas/${type}`]);
  return {
    description: `${which}. Ignore events of an unknown \`type\``,
    oneOf: references.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: 'type', mapping: Object.fromEntries(references) as object },
  };
}

export function schemaDocument(): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Events of PV Onboarding',
    description:
      'CloudEvents 1.0 in the structured JSON form. `type` determines the schema; ignore events of other types',
    oneOf: Object.keys(SCHEMAS_BY_TYPE).map((type) => ({ $ref: `#/$defs/${type}` })),
    $defs: SCHEMAS_BY_TYPE,
  };
}

import { EVENT_NAMES } from '../catalogue.rules.js';
import { toEventType } from '../cloud-event.js';
import { EVENT_SCHEMAS } from './event-schemas.js';
import { schemaOfEvent, type JsonSchema } from './schema-document.js';
import { TEST_EVENT_SCHEMA, TEST_TYPE } from './webhook-test-event.js';

const CONTENT_TYPE = 'application/cloudevents+json';

const DESCRIPTION = `Whatever happens is announced as an event, in the transaction in which it becomes true. Every reader gets every
event at least once, in order within a subject, and independently of the others; \`id\` is the same at every delivery. Events can also
be asked for: GET /api/v1/events, in openapi.json.`;

const types = EVENT_NAMES.map(toEventType);
const reference = (path: string) => ({ $ref: `#/${path}` });
const messagesOf = (channel: string) =>
  (channel === 'webhook' ? [...types, TEST_TYPE] : types).map((type) =>
    reference(`channels/${channel}/messages/${type}`),
  );
const messages = Object.fromEntries(types.map((type) => [type, reference(`components/messages/${type}`)]));

const messageOf = (type: string, summary: string) => ({
  name: type,
  summary,
  contentType: CONTENT_TYPE,
  payload: reference(`components/schemas/${type}`),
});

/** Returns the AsyncAPI 3 document of the events we send. The feed, which clients poll, is in openapi.json. */
export function asyncapiDocument(): JsonSchema {
  return {
    asyncapi: '3.0.0',
    info: { title: 'PV Onboarding', version: '1', description: DESCRIPTION },
    defaultContentType: CONTENT_TYPE,
    servers: {
      service: { host: 'pv-onboarding.example', protocol: 'https', description: 'This service' },
      receiver: {
        host: 'receiver.example',
        protocol: 'https',
        description: 'The URL of a webhook endpoint, as given to POST /api/v1/webhook-endpoints',
      },
      broker: { host: 'broker.example:4222', protocol: 'nats', description: 'EVENT_BROKER_URL' },
    },
    channels: {
      webhook: {
        title: 'Webhooks',
        description:
          'A POST with the event as its body, signed as Standard Webhooks has it (webhook-id, webhook-timestamp, webhook-signature)',
        address: null,
        servers: [reference('servers/receiver')],
        messages: { ...messages, [TEST_TYPE]: reference(`components/messages/${TEST_TYPE}`) },
      },
      stream: {
        title: 'The stream',
        description:
          'Server-sent events; the data of each is the event as JSON, its id the sequence, which Last-Event-ID goes on from',
        address: '/api/v1/events/stream',
        servers: [reference('servers/service')],
        messages,
      },
      broker: {
        title: 'The broker',
        description: 'The stream PV_ONBOARDING of NATS JetStream; Nats-Msg-Id is the id of the event',
        address: '{type}.{subject}',
        parameters: {
          type: { description: 'The type of the event', enum: types },
          subject: { description: 'Its subject; what is no letter, digit, - or _ is written as in a URL' },
        },
        servers: [reference('servers/broker')],
        messages,
      },
    },
    operations: Object.fromEntries(
      ['webhook', 'stream', 'broker'].map((channel) => [
        channel,
        { action: 'send', channel: reference(`channels/${channel}`), messages: messagesOf(channel) },
      ]),
    ),
    components: {
      messages: {
        ...Object.fromEntries(
          EVENT_NAMES.map((name) => [
            toEventType(name),
            messageOf(toEventType(name), `When ${EVENT_SCHEMAS[name].when}`),
          ]),
        ),
        [TEST_TYPE]: messageOf(TEST_TYPE, 'When a test of a webhook endpoint is asked for'),
      },
      schemas: {
        ...Object.fromEntries(EVENT_NAMES.map((name) => [toEventType(name), schemaOfEvent(name)])),
        [TEST_TYPE]: TEST_EVENT_SCHEMA,
      },
    },
  };
}

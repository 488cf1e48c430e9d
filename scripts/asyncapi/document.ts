import { TEST_TYPE } from '../../src/webhooks/endpoints/endpoints.service.js';
import { SCHEMAS_BY_TYPE, WEBHOOK_SCHEMAS, type JsonSchema } from './schemas.js';

const CONTENT_TYPE = 'application/cloudevents+json';

const DESCRIPTION = `Every change is announced as an event, committed in the same transaction. Every reader gets every event at least
once, in order within a subject, and independently of other readers; \`id\` is the same in every delivery. Events can also be read
page by page: see GET /api/v1/events in openapi.json.`;

const types = Object.keys(SCHEMAS_BY_TYPE);
const reference = (path: string) => ({ $ref: `#/${path}` });
const messages = Object.fromEntries(types.map((type) => [type, reference(`components/messages/${type}`)]));

const CHANNELS = {
  webhook: {
    title: 'Webhooks',
    description:
      'A POST with the event as its body, signed according to Standard Webhooks (webhook-id, webhook-timestamp, webhook-signature)',
    servers: [reference('servers/receiver')],
    messages: { ...messages, [TEST_TYPE]: reference(`components/messages/${TEST_TYPE}`) },
  },
  stream: {
    title: 'The stream',
    description:
      'Server-sent events. `data` is the event as JSON, `id` is its sequence. Last-Event-ID resumes after that sequence',
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
      subject: { description: 'The subject, percent-encoded except for letters, digits, - and _' },
    },
    servers: [reference('servers/broker')],
    messages,
  },
};

const SECURITY_SCHEMES = {
  signature: {
    type: 'symmetricEncryption',
    description:
      'HMAC-SHA256 with the secret of the endpoint, in the header webhook-signature: Standard Webhooks',
  },
  apiKey: { type: 'http', scheme: 'bearer', description: 'An API key with the scope events:read' },
  broker: { type: 'userPassword', description: 'The user and password, or the token, in EVENT_BROKER_URL' },
};

const OPERATIONS = {
  webhook: [
    'signature',
    'Each event is sent to every endpoint whose `types` it matches, until the endpoint confirms it.',
  ],
  stream: ['apiKey', 'Each event is sent to every open stream whose filters it matches.'],
  broker: [
    'broker',
    'Each event is published and confirmed by the broker before the next event of its subject.',
  ],
} as const;

/** Returns the AsyncAPI 3 document of the events we send. openapi.json describes the feed, which clients poll. */
export function asyncapiDocument(): JsonSchema {
  return {
    asyncapi: '3.1.0',
    info: {
      title: 'PV Onboarding',
      version: '1',
      description: DESCRIPTION,
      contact: {
        name: 'The operator of the deployment',
        url: 'https://pv-onboarding.example/docs',
        email: 'operator@pv-onboarding.example',
      },
      license: { name: 'Proprietary', url: 'https://pv-onboarding.example/license' },
      tags: [{ name: 'Events', description: 'Everything that happens to users, sessions and inverters' }],
    },
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
    channels: CHANNELS,
    // An operation without `messages` has all messages of its channel.
    operations: Object.fromEntries(
      Object.entries(OPERATIONS).map(([channel, [security, description]]) => [
        channel,
        {
          action: 'send',
          description,
          channel: reference(`channels/${channel}`),
          security: [reference(`components/securitySchemes/${security}`)],
        },
      ]),
    ),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      messages: Object.fromEntries(
        Object.entries(WEBHOOK_SCHEMAS).map(([name, { description: summary }]) => {
          const payload = reference(`components/schemas/${name}`);
          return [name, { name, summary, contentType: CONTENT_TYPE, payload }];
        }),
      ),
      schemas: WEBHOOK_SCHEMAS,
    },
  };
}

import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { ProblemView } from '../../src/platform/openapi/api-problems.decorator.js';
import { addExamples, describeIds, mergePaths, operationsOf, type RecordedExamples } from './operations.js';
import { describeProblems, shareProblems } from './problem-responses.js';
import { describeHeaders, describeIdempotencyKey } from './common-headers.js';

const DESCRIPTION = `The API of PV Onboarding: register users with their grid locations at the Solar Curtailment Service, start PV
onboarding sessions, and learn by events when their installations are online.

Every request to \`/api/v1\` needs \`Authorization: Bearer <api key>\`; \`x-required-scope\` names the scope that the key must have,
or the scopes, separated by a blank; with \` | \` between them, one is enough, and \`x-scope-of\` says for which part of the response.
Errors are \`application/problem+json\` (RFC 9457); handle them by \`code\`. Lists are paged: to get the next page, send \`next\` as
\`cursor\`. A request may have an \`X-Request-Id\`; every response has one. The examples are responses of a running service.

[asyncapi.json](/asyncapi.json) describes the messages that the service sends, with the schema of every event.`;

const TAGS = {
  Users: 'Users and their registration at the Solar Curtailment Service',
  Onboarding: 'Sessions in which owners connect their installations, and the inverters that came online',
  Invitations: 'Links for owners that stay valid, and how far their owners have come',
  Campaigns: 'Files of customers to register, and what became of each row',
  Customers: 'Everything about one customer or grid location, what it waits for and what is next',
  Events: 'The feed and the stream of everything that happens',
  Webhooks: 'Endpoints to which events are sent, and the log of their deliveries',
  'API keys': 'Keys for apps, with their scopes',
  Operation: 'Health, metrics and the meaning of problems',
};

/** The JSON Schemas of the events by their `type`, and of the unions `FeedEvent` and `Event`. */
type EventSchemas = Readonly<Record<string, object>>;

const BEARER = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'API key',
  description: 'An API key, or ADMIN_API_KEY',
} as const;

/** Returns the OpenAPI document of the controllers, with the recorded examples and the schemas of the events. */
export function createDocument(
  app: INestApplication,
  examples: RecordedExamples,
  events: EventSchemas,
): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('PV Onboarding')
    .setVersion('1')
    .setDescription(DESCRIPTION)
    .addServer('/')
    .addBearerAuth(BEARER, 'apiKey')
    .build();
  // `identifier` is part of OpenAPI 3.1, but Nest's type lacks it.
  Object.assign(config.info, { license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' } });
  config.tags = Object.entries(TAGS).map(([name, description]) => ({ name, description }));
  const document = SwaggerModule.createDocument(app, config, {
    extraModels: [ProblemView],
    operationIdFactory: (_controller, method) => method,
  });
  describeIdempotencyKey(document);
  describeProblems(document);
  mergePaths(document);
  describeIds(document);
  // Operations that need no key get an empty list. Without it, the document would not say whether they need one.
  for (const operation of operationsOf(document)) operation.security ??= [];
  describeHeaders(document);
  addExamples(document, examples);
  shareProblems(document);
  Object.assign(document.components!.schemas!, withOpenMetadata(events));
  addWebhooks(document);
  return document;
}

/** Describes the request that a webhook endpoint receives: one event of the union `Event`, discriminated by `type`. */
function addWebhooks(document: OpenAPIObject): void {
  const webhook = {
    operationId: 'receiveEvent',
    tags: ['Webhooks'],
    summary: 'Receive an event at a webhook endpoint',
    description: 'Sent at least once, in order within a `subject`, signed according to Standard Webhooks.',
    security: [],
    parameters: [
      header('webhook-id', 'The `id` of the event, the same in every attempt'),
      header('webhook-timestamp', 'When the attempt was made, in seconds since 1970'),
      header('webhook-signature', 'One `v1,` signature for each valid secret, separated by spaces'),
    ],
    requestBody: {
      required: true,
      content: { 'application/cloudevents+json': { schema: { $ref: '#/components/schemas/Event' } } },
    },
    responses: {
      '2XX': { description: 'Received' },
      '410': { description: 'The endpoint no longer exists: the service disables it' },
      default: { description: 'Not received: the event is sent again according to the retry schedule' },
    },
  };
  Object.assign(document, { webhooks: { event: { post: webhook } } });
}

/** Adds `additionalProperties: true` to the metadata of events: without it, client generators produce a type without properties. */
const withOpenMetadata = (schemas: EventSchemas): object =>
  JSON.parse(JSON.stringify(schemas), (name, value: unknown) =>
    name === 'metadata' ? { ...(value as object), additionalProperties: true } : value,
  ) as object;

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
});

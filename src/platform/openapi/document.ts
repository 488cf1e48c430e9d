import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { addExamples, type RecordedExamples } from './examples.js';
import { describeProblems } from './problems.js';
import { followRules } from './conventions.js';
import { shareProblems } from './shared-responses.js';

const DESCRIPTION = `The API of PV Onboarding: register users with their grid locations at the Solar Curtailment Service, start PV
onboarding sessions, and learn by events when their installations are online.

Every request to \`/api/v1\` carries \`Authorization: Bearer <api key>\`; \`x-required-scope\` names the scope that the key needs.
Errors are \`application/problem+json\` (RFC 9457): decide by \`code\`. Lists are paged: ask on with \`next\` as \`cursor\`. A request
may carry an \`X-Request-Id\`; every answer does. The examples are answers of a running service.

What is sent to you, and the schema of every event, stands in [asyncapi.json](/asyncapi.json).`;

/** Returns the document made from the controllers and the recorded examples. */
export function createDocument(app: INestApplication, examples: RecordedExamples): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('PV Onboarding')
    .setVersion('1')
    .setDescription(DESCRIPTION)
    .addServer('/')
    .addBearerAuth(
      {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'API key',
        description: 'An API key, or ADMIN_API_KEY',
      },
      'apiKey',
    )
    .build();
  const document = SwaggerModule.createDocument(app, config);
  followRules(document);
  describeProblems(document);
  addExamples(document, examples);
  shareProblems(document);
  return document;
}

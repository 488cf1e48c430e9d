import type { JsonSchema } from './schema-document.js';

/** Not in the feed or the catalogue, because it reports nothing that happened. */
export const TEST_TYPE = 'pv.webhook_endpoint.test.v1';

/** Like any other event, but without `sequence`, because it is not in the feed. */
export const TEST_EVENT_SCHEMA: JsonSchema = {
  title: TEST_TYPE,
  description: 'When somebody asks for it: POST /api/v1/webhook-endpoints/{id}/test',
  type: 'object',
  required: ['specversion', 'id', 'source', 'type', 'subject', 'time', 'datacontenttype', 'data'],
  properties: {
    specversion: { const: '1.0' },
    id: { type: 'string', format: 'uuid', description: 'Another one each time' },
    source: { type: 'string', format: 'uri-reference', description: '`EVENT_SOURCE` of the deployment' },
    type: { const: TEST_TYPE },
    subject: { type: 'string', format: 'uuid', description: 'The webhook endpoint' },
    time: { type: 'string', format: 'date-time', description: 'When it was sent' },
    datacontenttype: { const: 'application/json' },
    data: {
      type: 'object',
      required: ['endpointId'],
      properties: { endpointId: { type: 'string', format: 'uuid', description: 'Id of the endpoint' } },
    },
  },
};

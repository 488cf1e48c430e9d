import { createRequire } from 'node:module';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { EVENT_NAMES } from '../../src/events/catalogue.rules.js';
import { toEventType } from '../../src/events/cloud-event.js';
import { asyncapiDocument } from '../../src/events/contract/asyncapi.js';
import { schemaDocument } from '../../src/events/contract/schema-document.js';
import { readPage as read } from './readme.js';

const readJson = async (path: string) => JSON.parse(await read(path)) as Record<string, unknown>;
const require = createRequire(import.meta.url);

const types = EVENT_NAMES.map(toEventType);

describe('asyncapi.json', () => {
  let document: Record<string, unknown>;
  beforeAll(async () => {
    document = await readJson('asyncapi.json');
  });

  it('is what the catalogue says: otherwise run `npm run asyncapi`', () => {
    expect(document).toEqual(JSON.parse(JSON.stringify(asyncapiDocument())));
  });

  it('is AsyncAPI 3', () => {
    // The schema file contains its own meta-schema, so Ajv must not add one.
    const schema = require('@asyncapi/specs/schemas/3.1.0.json') as object;
    const ajv = new Ajv({ strict: false, validateFormats: false, meta: false, validateSchema: false });
    const validate = ajv.compile(schema);
    expect([validate(document), ajv.errorsText(validate.errors)]).toEqual([true, 'No errors']);
  });

  it('refers only to what it has', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
      ([, path]) => path!,
    );
    expect(references.length).toBeGreaterThan(types.length * 6);
    const find = (path: string) =>
      path
        .split('/')
        .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);
    expect(references.filter((path) => find(path) === undefined)).toEqual([]);
  });

  it('has every event in every channel, and in that of webhooks the test event', () => {
    const channels = Object.values(document.channels as Record<string, { messages: object }>);
    const sentToReceivers = [...types, 'pv.webhook_endpoint.test.v1'];
    expect(channels.map(({ messages }) => Object.keys(messages))).toEqual([sentToReceivers, types, types]);
  });
});

describe('docs/events.schema.json', () => {
  it('is what the catalogue says: otherwise run `npm run asyncapi`', async () => {
    expect(await readJson('docs/events.schema.json')).toEqual(JSON.parse(JSON.stringify(schemaDocument())));
  });

  it('is a schema that takes the event of docs/events.md, and no event without its data', async () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const validate = ajv.compile(await readJson('docs/events.schema.json'));
    const [feed = ''] = /\{\n {2}"items".*?\n\}/s.exec(await read('docs/events.md')) ?? [];
    const [event] = (JSON.parse(feed) as { items: { type: string; data: { sessionId?: string } }[] }).items;
    expect(validate(event)).toBe(true);
    expect(validate({ ...event, data: {} })).toBe(false);
    expect(validate({ ...event, type: 'pv.unknown.v1' })).toBe(false);
  });
});

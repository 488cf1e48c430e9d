import { beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { asyncapiDocument } from '../../src/events/contract/asyncapi.js';
import { schemaDocument } from '../../src/events/contract/schema-document.js';
import { readPage as read } from './pages.js';

const readJson = async (path: string) => JSON.parse(await read(path)) as Record<string, unknown>;

describe('asyncapi.json', () => {
  let document: Record<string, unknown>;
  beforeAll(async () => {
    document = await readJson('asyncapi.json');
  });

  it('is what the catalogue says: otherwise run `npm run asyncapi`', () => {
    expect(document).toEqual(JSON.parse(JSON.stringify(asyncapiDocument())));
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

import { readFileSync } from 'node:fs';
import { describe, expect, it, jest } from '@jest/globals';
import type { Command } from 'commander';
import { apiCommands } from './api-commands.js';
import { BEYOND } from './beyond.js';
import {
  defaultColumns,
  operationsOf,
  resolverOf,
  type Description,
  type Schema,
} from './operation.rules.js';
import { ServiceApi } from './service-api.js';

const committed = JSON.parse(
  readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'),
) as Description;
const operations = operationsOf(committed);

/** Returns the words of the command of an operation without extensions. */
const commandOf = (method: string, path: string, operationId: string) =>
  operationsOf({ paths: { [path]: { [method]: { operationId } } } })[0]?.command;

const TREE: Schema = {
  type: 'object',
  properties: {
    object: { type: 'string', enum: ['tree'] },
    id: { type: 'string', format: 'uuid' },
    kind: { type: 'string', enum: ['oak', 'beech'] },
    plantedAt: { type: ['string', 'null'], format: 'date-time' },
    label: { type: 'string' },
    link: { type: 'string', 'x-secret': true },
    branches: { type: 'array', items: { type: 'string' } },
    note: { type: 'string' },
    remark: { type: 'string' },
  },
};

/** A description with operations that the service does not have. */
const INVENTED: Description = {
  paths: {
    '/api/v1/trees': {
      get: {
        operationId: 'listTrees',
        summary: 'List trees, the newest first',
        parameters: [
          { name: 'plantedSince', in: 'query', schema: { type: 'string', format: 'date-time' } },
          { name: 'kind', in: 'query', schema: { type: 'string', enum: ['oak', 'beech'] } },
          { name: 'cursor', in: 'query', schema: { type: 'string' } },
        ],
        responses: {
          200: {
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: {
                    items: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
                    next: { type: ['string', 'null'] },
                  },
                },
              },
            },
          },
        },
      },
    },
    '/api/v1/trees/{id}/fell': {
      post: {
        operationId: 'fellTree',
        summary: 'Fell a tree',
        'x-confirm': 'this fells {id}.',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }],
        requestBody: {
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['reason'],
                properties: {
                  reason: { type: 'string' },
                  height: { type: 'integer' },
                  isDry: { type: 'boolean' },
                  password: { type: 'string', 'x-secret': true },
                },
              },
            },
          },
        },
        responses: { 204: {} },
      },
    },
    '/api/v1/hidden': { get: { operationId: 'readHidden', 'x-command': false } },
  },
  components: { schemas: { Tree: TREE } },
};

const ID = '6c0d4d52-2f4b-4f5a-9d3c-0d1f5f3a9b11';

/** Runs a command of the invented operations. Returns what it printed, and the requests that it sent. */
async function run(args: readonly string[], response: () => Response, description = INVENTED) {
  const printed: string[] = [];
  const take = (line: string) => void printed.push(line);
  const spies = [
    jest.spyOn(console, 'log').mockImplementation(take),
    jest.spyOn(console, 'error').mockImplementation(take),
  ];
  const requests: string[] = [];
  const api = new ServiceApi('http://127.0.0.1:9', 'key');
  jest.spyOn(api, 'send').mockImplementation(async (request) => {
    requests.push(`${request.method} ${new URL(request.url).pathname}${new URL(request.url).search}`);
    const body = await request.text();
    if (body !== '') requests.push(body);
    return response();
  });
  const [first, ...rest] = args;
  const command = apiCommands(() => Promise.resolve(api), description).find((each) => each.name() === first)!;
  for (const each of [command, ...command.commands]) each.exitOverride();
  await command.parseAsync(rest, { from: 'user' });
  for (const spy of spies) spy.mockRestore();
  return { printed, requests };
}

describe('an operation becomes a command', () => {
  it('of a list, with its filters as options and its first values as columns', async () => {
    const tree = { id: ID, kind: 'oak', plantedAt: null, label: 'x'.repeat(30), link: 'https://secret' };
    const { printed, requests } = await run(
      ['trees', 'list', '--kind', 'oak', '--planted-since', '2026-01-01T00:00:00Z'],
      () => Response.json({ items: [tree], next: 'abc' }),
    );
    expect(requests).toEqual(['GET /api/v1/trees?plantedSince=2026-01-01T00%3A00%3A00Z&kind=oak']);
    expect(printed[0]).toMatch(/^ID +KIND +PLANTED +LABEL +NOTE$/);
    expect(printed[1]).toMatch(new RegExp(`^${ID} +oak +- +x{19}…`));
    expect(printed.at(-1)).toBe('there are more: add --cursor abc');
    expect(printed.join()).not.toContain('secret');
  });

  it('of an act, with what it needs as arguments', async () => {
    const args = ['trees', 'fell', ID, 'it is ill', '--height', '12', '--is-dry', '--yes'];
    const { printed, requests } = await run(args, () => new Response(null, { status: 204 }));
    expect(requests).toEqual([
      `POST /api/v1/trees/${ID}/fell`,
      '{"reason":"it is ill","height":12,"isDry":true}',
    ]);
    expect(printed).toEqual([`done ${ID}`]);
  });

  it('with a file in the place of a secret, and a confirmation', () => {
    const commands = apiCommands(() => Promise.reject(new Error('unused')), INVENTED);
    const fell = commands
      .find((each) => each.name() === 'trees')!
      .commands.find((each: Command) => each.name() === 'fell')!;
    const options = fell.options.map(({ long }) => long);
    expect(options).toEqual(['--height', '--is-dry', '--password-file', '--yes', '--json']);
  });

  it('unless its description says otherwise', () => {
    expect(operationsOf(INVENTED).map(({ command }) => command)).toEqual(['trees list', 'trees fell']);
  });
});

describe('an operation of another shape becomes a command', () => {
  const json = (schema: Schema) => ({ content: { 'application/json': { schema } } });
  const text: Schema = { type: 'string' };
  const body = (properties: Record<string, Schema>, ...required: string[]) => ({
    requestBody: json({ type: 'object', properties, required }),
  });
  const inPath = (name: string) => ({ name, in: 'path', required: true, schema: text });
  const FLAG: Schema = { type: 'boolean' };
  const NUMBER: Schema = { type: 'number' };
  const KIND: Schema = { type: 'string', enum: ['oak', 'beech'] };
  const PAIRS: Schema = { type: 'object', additionalProperties: true };
  const LIST: Schema = { type: 'array', items: text };
  const OBJECTS: Schema = { type: 'array', items: { type: 'object' } };
  const LISTS: Schema = { type: 'array', items: { type: 'object', properties: { parts: OBJECTS } } };

  it.each([
    [
      'arguments in the order of the path',
      '/a/{x}/b/{y}',
      { parameters: [inPath('y'), inPath('x')] },
      ['1', '2'],
      '/a/1/b/2',
    ],
    ['a required flag', '/a', body({ f: FLAG }, 'f'), ['false'], '{"f":false}'],
    ['a required choice', '/a', body({ kind: KIND }, 'kind'), ['oak'], '{"kind":"oak"}'],
    ['a required list', '/a', body({ of: LIST }, 'of'), ['x, y'], '{"of":["x","y"]}'],
    ['a number', '/a', body({ n: NUMBER }), ['--n', '1.5'], '{"n":1.5}'],
    ['pairs', '/a', body({ of: PAIRS }), ['--of', 'a=b', '--of', 'c=d=e'], '{"of":{"a":"b","c":"d=e"}}'],
    ['objects', '/a', body({ of: OBJECTS }), ['--of', '[{"a":1}]'], '{"of":[{"a":1}]}'],
    ['an empty body', '/a', body({ f: FLAG }), [], '{}'],
    [
      'a filter that is a flag',
      '/a',
      { parameters: [{ name: 'isDry', in: 'query', schema: FLAG }] },
      ['--is-dry'],
      '/a?isDry=true',
    ],
    [
      'a filter that is set unless told otherwise',
      '/a',
      { parameters: [{ name: 'isDry', in: 'query', schema: { ...FLAG, default: true } }] },
      ['--no-is-dry'],
      '/a?isDry=false',
    ],
  ])('with %s', async (_, path, described, args, expected) => {
    const operation = { operationId: 'act', 'x-command': 'a act', ...described };
    const description: Description = { paths: { [`/api/v1${path}`]: { put: operation } } };
    const { requests } = await run(['a', 'act', ...args], () => Response.json({}), description);
    expect(requests.at(-1)).toBe(expected.startsWith('{') ? expected : `PUT /api/v1${expected}`);
  });

  it.each([
    ['of a text', { type: 'string' }, 'done', ['done']],
    [
      'of a list without objects',
      { type: 'object', properties: { items: LIST } },
      { items: ['a'] },
      ['items:\n  - a'],
    ],
    ['of a list alone', LIST, ['a', 'b'], ['- a\n- b']],
    [
      'of a list of lists of objects',
      { type: 'object', properties: { items: { ...LISTS, 'x-columns': { PARTS: 'parts' } } } },
      { items: [{ parts: [{}, {}] }] },
      ['PARTS', '2'],
    ],
    [
      'with a link',
      { type: 'object', properties: { link: { ...text, 'x-secret': true } } },
      { link: 'x' },
      ['link: not shown here; --json has it'],
    ],
    [
      'with a secret',
      { type: 'object', properties: { pin: { ...text, 'x-secret': 'once' } } },
      { id: 'a', pin: 'x' },
      ['created a; the pin is shown only once:', 'x'],
    ],
  ] satisfies [string, Schema, unknown, string[]][])(
    'with a result %s',
    async (_, schema, data, expected) => {
      const operation = { operationId: 'act', 'x-command': 'a act', responses: { 200: json(schema) } };
      const description: Description = { paths: { '/api/v1/a': { get: operation } } };
      const { printed } = await run(['a', 'act'], () => Response.json(data), description);
      expect(printed).toEqual(expected);
    },
  );
});

describe('the parts of an operation', () => {
  const TEXT: Schema = { type: 'string' };
  const LIST: Schema = { type: 'array', items: TEXT };
  const OBJECT: Schema = { type: 'object', properties: { a: TEXT } };
  const OBJECTS: Schema = { type: 'array', items: OBJECT };
  const partsOf = (described: object) =>
    operationsOf({ paths: { '/api/v1/a': { post: { operationId: 'act', ...described } } } })[0]!;
  const sending = (type: string, schema: Schema) =>
    partsOf({ requestBody: { content: { [type]: { schema } } } });
  const body = (properties: Record<string, Schema>, ...required: string[]): Schema => ({
    ...{ type: 'object', properties, required },
  });

  it.each<[boolean, string, string, Schema]>([
    [false, 'an object of texts', 'application/json', body({ a: TEXT, b: TEXT }, 'a')],
    [false, 'an object with a needed list of texts', 'application/json', body({ a: LIST }, 'a')],
    [false, 'an object that may have objects', 'application/json', body({ a: OBJECTS, b: OBJECT })],
    [true, 'an object with a needed object', 'application/json', body({ a: TEXT, b: OBJECT }, 'a', 'b')],
    [true, 'an object with a needed list of objects', 'application/json', body({ a: OBJECTS, b: TEXT }, 'a')],
    [true, 'JSON without described fields', 'application/json', { type: 'object' }],
    [true, 'another type', 'text/csv', body({ a: TEXT })],
  ])('send a file: %s, %s', (sendsFile, _, type, schema) => {
    const operation = sending(type, schema);
    expect(operation).toMatchObject({ sendsFile, sends: type });
    expect(operation.inputs).toHaveLength(sendsFile ? 0 : Object.keys(schema.properties!).length);
  });

  it('are no headers, and without a body no body', () => {
    const operation = partsOf({
      parameters: [
        { name: 'X-Console', in: 'header', schema: TEXT },
        { name: 'q', in: 'query', schema: TEXT },
      ],
    });
    expect(operation.inputs).toEqual([{ ...TEXT, name: 'q', in: 'query', isRequired: false }]);
    expect(operation).toMatchObject({ sends: undefined, sendsFile: false, returns: undefined });
  });

  it('follow references, and take what is not null', () => {
    const resolve = resolverOf({ paths: {}, components: { schemas: { Leaf: TEXT } } });
    const leaf = { $ref: '#/components/schemas/Leaf' };
    expect(resolve({ ...leaf, description: 'own' })).toEqual({ ...TEXT, description: 'own' });
    expect(resolve({ anyOf: [{ type: 'null' }, leaf] })).toEqual(TEXT);
    expect(resolve({ oneOf: [leaf, { type: 'null' }] })).toEqual(TEXT);
    expect(resolve({ type: 'array', items: leaf })).toEqual(LIST);
    expect(resolverOf({ paths: {} })(leaf)).toEqual({});
  });

  it('are columns by their types, whatever their order', () => {
    const properties: Record<string, Schema> = {
      grownAtHome: { type: ['null', 'boolean'] },
      plantedAt: { type: ['null', 'string'], format: 'date-time' },
      leaves: { type: ['null', 'array'], items: TEXT },
      kind: { type: ['string', 'null'], enum: [null, 'x'.repeat(40)] },
      id: { type: 'string', format: 'uuid' },
      label: { type: ['null', 'string'] },
    };
    expect(defaultColumns((schema) => schema!, { properties })).toEqual({
      'GROWN AT HOME': 'grownAtHome',
      PLANTED: 'plantedAt',
      KIND: 'kind',
    });
    const { id, label, plantedAt } = properties;
    expect(
      defaultColumns((schema) => schema!, {
        properties: { id: id!, label: label!, note: label!, plantedAt: plantedAt! },
      }),
    ).toEqual({
      ID: 'id',
      LABEL: 'label:24',
      NOTE: 'note:24',
      PLANTED: 'plantedAt',
    });
  });

  it.each([
    [22, 3],
    [23, 2],
  ])('fill a table of 100 characters: two ids and a title of %d', (length, count) => {
    const id: Schema = { type: 'string', format: 'uuid' };
    const properties = { id, other: id, ['x'.repeat(length)]: { type: 'boolean' } };
    expect(Object.keys(defaultColumns((schema) => schema!, { properties }))).toHaveLength(count);
  });
});

describe('the words of a command', () => {
  it.each([
    ['get', '/api/v1/trees', 'listTrees', 'trees list'],
    ['get', '/api/v1/trees/{id}', 'readTree', 'trees show'],
    ['post', '/api/v1/trees', 'createTree', 'trees create'],
    ['delete', '/api/v1/trees/{id}', 'fellTree', 'trees fell'],
    ['post', '/api/v1/trees/{id}/water', 'waterTree', 'trees water'],
    ['get', '/api/v1/trees/{id}/leaves', 'listLeaves', 'trees leaves'],
    ['get', '/api/v1/trees/{id}/leaves/{leafId}', 'readLeaf', 'trees read-leaf'],
    ['post', '/api/v1/trees/{id}/leaves', 'createLeaf', 'trees create-leaf'],
    ['get', '/api/v1/trees/groups', 'groupTrees', 'trees groups'],
    ['get', '/api/v1/forest', 'getForest', 'forest show'],
    ['get', '/health/live', 'getLiveness', undefined],
  ])('of %s %s (%s) are %s', (method, path, id, expected) => {
    expect(commandOf(method, path, id)).toBe(expected);
  });
});

describe('openapi.json', () => {
  it('has one command for each name, and no group that is a command as well', () => {
    const names = operations.map(({ command }) => command);
    expect(new Set(names).size).toBe(names.length);
    const groups = new Set(names.filter((name) => name.includes(' ')).map((name) => name.split(' ')[0]!));
    expect(names.filter((name) => groups.has(name))).toEqual([]);
  });

  it('has the operations of which a command does more', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(Object.keys(BEYOND).filter((id) => !ids.includes(id))).toEqual([]);
  });

  it('says what each operation that deletes does', () => {
    const deletes = operations.filter(({ method }) => method === 'delete');
    expect(deletes.filter((each) => each['x-confirm'] === undefined)).toEqual([]);
  });

  it('names columns that its lists have, and no secret', () => {
    const resolve = resolverOf(committed);
    const unknown = operations.flatMap(({ operationId: id, returns }) => {
      const list = resolve(returns?.[1].properties?.['items']);
      const fields = Object.values(list['x-columns'] ?? defaultColumns(resolve, list.items ?? {}));
      const { properties = {} } = resolve(list.items);
      return fields
        .filter((field) => {
          const property = properties[field.split(/[.:]/)[0]!];
          return property === undefined || resolve(property)['x-secret'] !== undefined;
        })
        .map((field) => `${id} ${field}`);
    });
    expect(unknown).toEqual([]);
  });

  it('marks each field that holds a secret or a link for an owner', () => {
    const schemas = Object.entries(committed.components!.schemas!);
    const unmarked = schemas.flatMap(([name, { properties = {} }]) =>
      Object.entries(properties)
        .filter(
          ([field, { description = '', ...property }]) =>
            (/^(secret|startUrl|invitationUrl|headers)$/.test(field) ||
              /may act for the owner|shown only once/.test(description)) &&
            property['x-secret'] === undefined,
        )
        .map(([field]) => `${name}.${field}`),
    );
    expect(unmarked).toEqual([]);
  });
});

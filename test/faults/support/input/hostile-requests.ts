import fc from 'fast-check';
import { anyInstant } from './instants.js';
import { oddCursor, type Cursors } from './odd-cursors.js';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly format?: string;
}

interface BodyContent {
  readonly schema: Schema;
  readonly example?: unknown;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
  readonly example?: string | number;
}

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, unknown>>;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly 'application/json': BodyContent } };
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The response statuses that the OpenAPI document declares. */
  readonly statuses: readonly string[];
}

/** Texts that have broken services, ours included. */
const HOSTILE_TEXTS = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\udc00x',
  '\u202e',
  '１２３',
  "'; DROP TABLE users; --",
  '%00',
  '../../..',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'NaN',
  '-1',
  '1e400',
  '9'.repeat(400),
  'x'.repeat(5_000),
  '\r\nx: y',
  '🔌',
  '{}',
  '[]',
  'true',
  '0x10',
  'WyJhIl0',
  'bnVsbA',
];

const hostileText = fc.oneof(fc.constantFrom(...HOSTILE_TEXTS), fc.string({ unit: 'binary', maxLength: 50 }));
const hostileJson = fc.oneof(
  hostileText.map((text) => JSON.stringify(text)),
  fc.json({ maxDepth: 3 }),
  fc.constantFrom(
    '541448820044186577',
    '1e17',
    '-0',
    '1e400',
    '0.1',
    'null',
    '[]',
    '{}',
    '[[]]',
    '{"__proto__":1}',
    '{"constructor":{"a":1}}',
  ),
  fc.nat({ max: 2_000 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
);

/** Generates JSON text: in three of four cases a value of the schema, otherwise hostile JSON. */
function jsonOf(schema: Schema, document: Document): fc.Arbitrary<string> {
  const honest = honestJson(schema, document);
  return fc.oneof({ weight: 3, arbitrary: honest }, { weight: 1, arbitrary: hostileJson });
}

function honestJson(schema: Schema, document: Document): fc.Arbitrary<string> {
  if (schema.$ref !== undefined)
    return honestJson(document.components.schemas[schema.$ref.split('/').at(-1)!]!, document);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum).map((value) => JSON.stringify(value));
  if (schema.items !== undefined) {
    return fc.array(jsonOf(schema.items, document), { maxLength: 4 }).map((items) => `[${items.join(',')}]`);
  }
  if (schema.properties !== undefined) {
    const properties = Object.entries(schema.properties).map(([name, property]) =>
      fc.option(
        jsonOf(property, document).map((value) => `${JSON.stringify(name)}:${value}`),
        { freq: 6, nil: null },
      ),
    );
    const unknown = fc.option(
      fc.tuple(hostileText, hostileJson).map(([name, value]) => `${JSON.stringify(name)}:${value}`),
      { freq: 1, nil: null },
    );
    return fc
      .tuple(...properties, unknown)
      .map((parts) => `{${parts.filter((part) => part !== null).join(',')}}`);
  }
  if (schema.format === 'date-time') return anyInstant.map(({ text }) => JSON.stringify(text));
  if (schema.format === 'uuid') return fc.uuid().map((id) => JSON.stringify(id));
  if (schema.type === 'integer' || schema.type === 'number') return fc.integer().map(String);
  if (schema.type === 'boolean') return fc.boolean().map(String);
  return fc
    .oneof(fc.string({ maxLength: 20 }), fc.stringMatching(/^[1-9][0-9]{17}$/))
    .map((text) => JSON.stringify(text));
}

const HEADERS = fc.record({
  contentType: fc.oneof(
    { weight: 9, arbitrary: fc.constant('application/json') },
    fc.constantFrom('text/plain', 'application/json; charset=latin1', 'x', ''),
  ),
  requestId: fc.option(fc.stringMatching(/^[ -~]{0,200}$/), { freq: 1, nil: undefined }),
});

const INSTANT = /"\d{4}-\d\d-\d\dT[^"]*"/g;

/** Generates the example, the example with other instants, or a body from the schema. Cuts off the last character of a few bodies. */
function bodyOf({ schema, example }: BodyContent, document: Document): fc.Arbitrary<string> {
  const recorded = JSON.stringify(example ?? {});
  const whole = fc.oneof(
    { weight: 1, arbitrary: fc.constant(recorded) },
    {
      weight: recorded.search(INSTANT) < 0 ? 0 : 2,
      arbitrary: anyInstant.map(({ text: instant }) => recorded.replaceAll(INSTANT, JSON.stringify(instant))),
    },
    { weight: 3, arbitrary: jsonOf(schema, document) },
  );
  return fc.tuple(whole, fc.nat({ max: 40 })).map(([text, cut]) => (cut === 0 ? text.slice(0, -1) : text));
}

/** Generates a value of the schema, except for `wait`, which could delay the response for up to a minute. */
function honestParameter(name: string, schema: Schema, document: Document): fc.Arbitrary<string> {
  if (name === 'wait') return fc.constantFrom('0', '61');
  return honestJson(schema, document).map((text) => text.replace(/^"|"$/g, ''));
}

/** Generates valid, nearly valid and invalid requests of one operation. */
function requestsOf(
  path: string,
  method: string,
  operation: Operation,
  document: Document,
  cursors: Cursors,
): fc.Arbitrary<Request> {
  const content = operation.requestBody?.content['application/json'];
  const parameters = (operation.parameters ?? []).map(({ name, in: place, example, schema: of }) => {
    const cursor = name === 'cursor' ? cursors[path] : undefined;
    const honest = example === undefined ? honestParameter(name, of, document) : fc.constant(String(example));
    const usual = cursor === undefined ? honest : oddCursor(cursor);
    const value = fc.oneof({ weight: 2, arbitrary: usual }, { weight: 1, arbitrary: hostileText });
    return fc.tuple(value, fc.boolean()).map(([text, isGiven]) => ({ name, place, text, isGiven }));
  });
  const body = content === undefined ? fc.constant(undefined) : bodyOf(content, document);
  return fc
    .tuple(fc.tuple(...parameters), body, HEADERS, hostileText, fc.nat({ max: 9 }))
    .map(([given, text, headers, noise, dice]) => {
      let target = path;
      const query = new URLSearchParams();
      for (const { name, place, text: value, isGiven } of given) {
        if (place === 'path')
          target = target.replace(`{${name}}`, encodeURIComponent(value.toWellFormed()) || '-');
        else if (isGiven) query.append(name, value);
      }
      if (dice === 0) query.append(noise, noise);
      const [again] = query.keys();
      if (dice === 1 && again !== undefined) query.append(again, noise);
      return {
        method: method.toUpperCase(),
        path: query.size === 0 ? target : `${target}?${query.toString()}`,
        headers: {
          ...(text !== undefined && headers.contentType !== '' && { 'content-type': headers.contentType }),
          ...(headers.requestId !== undefined && { 'x-request-id': headers.requestId }),
        },
        ...(text !== undefined && { body: text }),
        statuses: Object.keys(operation.responses),
      };
    });
}

/** Returns requests of the lists without parameters but a changed cursor, some of which are still valid. */
export const cursorRequests = (
  document: Document,
  cursors: Cursors,
  numRuns: number,
  seed: number,
): Request[] =>
  Object.entries(cursors)
    .filter(([path]) => !path.includes('{'))
    .flatMap(([path, cursor], index) =>
      fc.sample(oddCursor(cursor), { numRuns, seed: seed + index }).map((odd) => ({
        method: 'GET',
        path: `${path}?cursor=${encodeURIComponent(odd.toWellFormed())}`,
        headers: {},
        statuses: Object.keys(document.paths[path]!['get']!.responses),
      })),
    );

/** Returns random requests of all operations. Equal arguments give equal requests. */
export function hostileRequests(document: Document, cursors: Cursors, numRuns: number, seed: number) {
  const arbitraries = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId }]) => operationId !== 'getMetrics')
      .map(([method, operation]) => requestsOf(path, method, operation, document, cursors)),
  );
  return fc.sample(fc.oneof(...arbitraries), { numRuns, seed });
}

import { beforeAll, describe, expect, it } from '@jest/globals';
import { anchorsOf, readPage as read } from './readme.js';

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  /** Set if an object may be null: the schema of the object, and the schema of null. */
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

describe('docs/operations.md', () => {
  let text: string;
  let openapi: OpenApi;

  beforeAll(async () => {
    text = await read('docs/operations.md');
    openapi = JSON.parse(await read('openapi.json')) as OpenApi;
  });

  it('leads to headings that exist', async () => {
    const links = [...text.matchAll(/\]\(([a-z]*(?:\.md)?)#([^)]+)\)/g)];
    expect(links.length).toBeGreaterThan(10);
    const missing: string[] = [];
    for (const [, file = '', anchor = ''] of links) {
      const target = file === '' ? text : await read(`docs/${file}`);
      if (!anchorsOf(target).includes(anchor)) missing.push(`${file}#${anchor}`);
    }
    expect(missing).toEqual([]);
  });

  it('names routes that exist', () => {
    const shape = (path: string) => path.replace(/\{[^}]+\}/g, '{}');
    const known = Object.entries(openapi.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${shape(path)}`),
    );
    const named = [...text.matchAll(/`(GET|POST) (\/[^`?]+)`/g)].map(
      ([, method, path = '']) => `${method} ${shape(path)}`,
    );
    expect(named.length).toBeGreaterThan(4);
    expect(named.filter((route) => !known.includes(route))).toEqual([]);
  });

  it('names fields of the status that exist', () => {
    const resolve = ({ $ref, allOf, anyOf, ...schema }: Schema): Schema => {
      const name = ($ref ?? allOf?.[0]?.$ref ?? anyOf?.[0]?.$ref)?.split('/').at(-1);
      return name === undefined ? schema : resolve(openapi.components.schemas[name]!);
    };
    const find = (names: readonly string[]) =>
      names.reduce<Schema | undefined>((at, name) => at && resolve(at).properties?.[name], {
        $ref: '#/components/schemas/StatusView',
      });
    const named = [
      ...text.matchAll(/`((?:remote|token|poller|outbox|registrations|starts)(?:\.[a-zA-Z]+)+)`/g),
    ]
      .map(([, path = '']) => path)
      .filter((path) => !path.endsWith('.md'));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((path) => find(path.split('.')) === undefined)).toEqual([]);
  });
});

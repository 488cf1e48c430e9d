import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { testEnvironment } from '../setup/test-environment.js';
import { startTestApp, type TestApp } from '../setup/test-app.js';
import { argumentsFor } from '../setup/test-process.js';
import { withClient } from '../setup/with-client.js';
import { anchorsOf, readPage as read } from './readme.js';

jest.setTimeout(120_000);

const run = promisify(execFile);

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

  describe('has commands that work:', () => {
    const PROGRAMS =
      /^(npm(?! run cli --$)|npx|node|docker|kubectl|psql|curl|pg_\w+ |openssl|SELECT|ALTER|UPDATE|DELETE) /;
    const COMMAND_LINE = /^(?:npm run cli --|(?:docker|kubectl) .*\bpv-onboarding) ([a-z].*)$/;
    /** Needs an engine: compose.spec holds it to the compose file. */
    const COMPOSE = /^docker compose (?:exec postgres psql|--profile)/;

    /** Returns the commands in the text and in its blocks. */
    const commands = (): string[] => {
      const inline = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
      const blocks = [...text.matchAll(/^ *```(?:sh|sql)\n(.*?)```/gms)].map(([, code = '']) => code.trim());
      return [...new Set([...inline, ...blocks].filter((code) => PROGRAMS.test(code)))];
    };

    let service: TestApp;
    beforeAll(async () => {
      service = await startTestApp();
    });
    afterAll(() => service.close());

    it('statements', async () => {
      const statements = commands().filter((code) => /^[A-Z]/.test(code));
      expect(statements).toHaveLength(8);
      await withClient(service.environment.DATABASE_URL, async (client) => {
        for (const statement of statements) await client.query(statement);
      });
    });

    it('the command line', async () => {
      const words = commands().flatMap((code) => COMMAND_LINE.exec(code)?.[1] ?? []);
      const { DATABASE_URL } = service.environment;
      const env = {
        PATH: process.env.PATH,
        ...testEnvironment(),
        ...service.sandbox!.environment,
        DATABASE_URL,
      };
      const unlike = [...new Set(words)];
      expect(unlike.sort()).toEqual(['keys list', 'migrate', 'rederive']);
      for (const each of unlike)
        await run(process.execPath, [...argumentsFor('src/cli/main.ts'), ...each.split(' ')], { env });
    });

    it('the probe', async () => {
      const [probe, ...others] = commands().filter((code) => code.startsWith('curl '));
      expect(others).toEqual([]);
      const env = { PATH: process.env.PATH, KEY: service.adminKey, API: `${service.url}/api/v1` };
      const { stdout } = await run('sh', ['-c', probe!], { env });
      const { outcome } = JSON.parse(stdout) as { outcome: string };
      expect(text).toContain(`| \`${outcome}\``);
    });

    it('and no other', () => {
      const kinds = [/^[A-Z]/, COMMAND_LINE, COMPOSE, /^curl /];
      expect(commands().filter((code) => !kinds.some((kind) => kind.test(code)))).toEqual([]);
    });
  });
});

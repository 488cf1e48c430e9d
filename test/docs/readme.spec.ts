import { readdir, readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { RULES, SESSION_STATES, transitionsOfMachine } from '../../src/onboarding/rules/machine.rules.js';
import { Environment } from '../../src/platform/env/environment.js';
import {
  ConfigurationError,
  ENVIRONMENT_NAMES,
  LOCAL_DEFAULTS,
  readEnvironment,
} from '../../src/platform/env/read-environment.js';
import { tourOf } from '../../src/platform/local/tour.js';
import { blockOf, readReadme, ROOT, rowsOf } from './readme.js';

const read = (path: string) => readFile(new URL(path, ROOT), 'utf8');
const wordsOf = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
const scriptsOf = async () =>
  Object.keys((JSON.parse(await read('package.json')) as { scripts: Record<string, string> }).scripts);

/** As GitHub makes them. */
const anchorsOf = (markdown: string) =>
  [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );

let readme: string;
beforeAll(async () => {
  readme = await readReadme();
});

describe('README.md', () => {
  it('leads only to what is there', async () => {
    const missing: string[] = [];
    for (const [, link = ''] of readme.matchAll(/\]\(([^)]+)\)/g)) {
      const [path = '', anchor] = link.split('#');
      const isFolder = await readdir(new URL(path, ROOT)).then(
        () => true,
        () => false,
      );
      const text = isFolder ? '' : await read(path === '' ? 'README.md' : path).catch(() => undefined);
      const isThere = text !== undefined && (anchor === undefined || anchorsOf(text).includes(anchor));
      if (!isThere) missing.push(link);
    }
    expect(missing).toEqual([]);
  });

  it('explains every command of package.json, and names no other', async () => {
    const scripts = await scriptsOf();
    const commandOf = (text: string) => /npm (?:run )?([a-z][\w:]*)/.exec(text)?.[1];
    const explained = rowsOf(readme, 'commands').map(([command = '']) => commandOf(command));
    expect(explained.sort()).toEqual([...scripts].sort());
    const named = [...readme.matchAll(/npm (?:run )?([a-z][\w:]*)/g)].map(([, command = '']) => command);
    // `ci` is npm's own; in prose, npm is also named without a command behind it.
    const unknown = named.filter((command) => ![...scripts, 'ci', 'commands'].includes(command));
    expect(unknown).toEqual([]);
  });

  it('names calls that exist', async () => {
    const { paths } = JSON.parse(await read('openapi.json')) as { paths: Record<string, object> };
    const shapeOf = (path: string) => path.replace(/\{[^}]+\}/g, '{}');
    const known = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${shapeOf(path)}`),
    );
    const named = [...readme.matchAll(/`((?:GET|POST) \/[^`]+)`/g)].map(([, call = '']) => shapeOf(call));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((call) => !known.includes(call))).toEqual([]);
  });

  it('lists every variable with its default', () => {
    const defaults = new Map<string, string | number>(Object.entries(new Environment()));
    const isLocal = (name: string) => (LOCAL_DEFAULTS as readonly string[]).includes(name);
    const rows = rowsOf(readme, 'configuration');
    expect(rows.map(([name]) => wordsOf(name)[0]).sort()).toEqual([...ENVIRONMENT_NAMES].sort());
    for (const [name = '', value = ''] of rows) {
      const [variable = ''] = wordsOf(name);
      if (isLocal(variable)) expect([variable, value]).toEqual([variable, expect.stringMatching(/^[a-z]/)]);
      else if (variable === 'LOG_FORMAT') expect(value).toBe('');
      else expect([variable, ...wordsOf(value)]).toEqual([variable, ...textsOf(defaults.get(variable))]);
    }
  });

  it('shows what production says when nothing is configured', () => {
    let said = '';
    try {
      readEnvironment({ NODE_ENV: 'production' });
    } catch (error) {
      if (error instanceof ConfigurationError) said = error.message;
    }
    expect(blockOf(readme, 'production')).toBe(said);
  });

  it('shows the tour as the start prints it', () => {
    const printed = tourOf({
      url: 'http://127.0.0.1:3000',
      environment: { DOCS: true, ADMIN_API_KEY: 'local_…', SCS_BASE_URL: 'http://127.0.0.1:4010' },
      withSandbox: true,
    });
    expect(blockOf(readme, 'tour')).toBe(printed.trim().replace(/^ {2}/gm, ''));
  });

  it('maps every module', async () => {
    const folders = (await readdir(new URL('src', ROOT), { withFileTypes: true }))
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `src/${name}`);
    const mapped = rowsOf(readme, 'modules').map(([folder = '']) => /\[([^\]]+)\]/.exec(folder)?.[1]);
    expect(mapped.filter((folder) => folder?.startsWith('src/')).sort()).toEqual(folders.sort());
  });

  it('names files of the modules that exist', async () => {
    for (const [folder = '', , files = ''] of rowsOf(readme, 'modules')) {
      const path = /\(([^)]+)\)/.exec(folder)?.[1] ?? '';
      for (const file of wordsOf(files).filter((word) => word.endsWith('.ts'))) {
        expect(await read(`${path}/${file}`)).not.toBe('');
      }
    }
  });

  it('names a test for each guarantee', async () => {
    for (const [promise, link = ''] of rowsOf(readme, 'guarantees')) {
      const path = /\(([^)]+)\)/.exec(link)?.[1] ?? '';
      const proves = /describe\('R\d+/.test(await read(path));
      expect([promise, path, proves]).toEqual([promise, path, true]);
    }
  });

  it('asks the database what docs/sql.md asks', async () => {
    const asked = await read('docs/sql.md');
    const queries = [...readme.matchAll(/^ *```sql\n(.*?)```/gms)].map(([, query = '']) =>
      query.replace(/^ {3}/gm, '').trim(),
    );
    expect(queries).toHaveLength(2);
    for (const query of queries) expect(asked).toContain(query);
  });
});

describe('what README.md says of states', () => {
  it('is what the rules say', () => {
    const rows = rowsOf(readme, 'states');
    expect(rows.map(([state]) => wordsOf(state)[0])).toEqual(SESSION_STATES);
    for (const [state, , basis, rules] of rows) {
      const [name = ''] = wordsOf(state);
      const expected = RULES.filter((rule) => rule.state === name);
      if (name === 'lost') {
        expect([basis, expected]).toEqual(['observed', []]);
      } else {
        expect([name, wordsOf(rules)]).toEqual([name, expected.map(({ rule }) => rule)]);
        expect([name, basis]).toEqual([name, ...new Set(expected.map((rule) => rule.basis))]);
      }
    }
  });

  it('is what the diagram shows', () => {
    const diagram = /```mermaid\n(.*?)```/s.exec(readme)?.[1] ?? '';
    const choice = /state (\w+) <<choice>>/.exec(diagram)?.[1] ?? '';
    const arrows = [...diagram.matchAll(/^ +(\w+) --> (\w+)$/gm)].map(([, from = '', to = '']) => [from, to]);
    const before = arrows.filter(([, to]) => to === choice).map(([from]) => from);
    const after = arrows.filter(([from]) => from === choice).map(([, to]) => to);
    expect(arrows).toHaveLength(before.length + after.length);
    const shown = before.flatMap((from) => after.filter((to) => to !== from).map((to) => `${from} to ${to}`));
    expect(shown.sort()).toEqual(
      transitionsOfMachine()
        .map(([from, to]) => `${from} to ${to}`)
        .sort(),
    );
    expect(diagram).toContain('[*] --> awaiting_owner');
  });
});

const textsOf = (value: string | number | undefined) => (value === undefined ? [] : [String(value)]);

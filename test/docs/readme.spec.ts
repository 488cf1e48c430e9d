import { readdir } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { SESSION_STATES } from '../../src/events/event-schemas.rules.js';
import { EVENT_NAMES } from '../../src/events/catalogue.rules.js';
import { RULES, type SessionState } from '../../src/onboarding/rules/machine.rules.js';
import { Environment } from '../../src/platform/env/environment.js';
import { ENVIRONMENT_NAMES } from '../../src/platform/env/environment-names.js';
import {
  ConfigurationError,
  LOCAL_DEFAULTS,
  readEnvironment,
} from '../../src/platform/env/read-environment.js';
import { tourOf } from '../../src/local/tour.js';
import { anchorsOf, blockOf, readPage as read, ROOT, rowsOf } from './readme.js';

const wordsOf = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
const scriptsOf = async () =>
  Object.keys((JSON.parse(await read('package.json')) as { scripts: Record<string, string> }).scripts);

const TOP = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'clients/typescript/README.md'];
let readme: string;
let docs: string[];
let pages: ReadonlyMap<string, string>;
beforeAll(async () => {
  docs = (await readdir(new URL('docs', ROOT)))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);
  pages = new Map(
    await Promise.all([...TOP, ...docs].map(async (path) => [path, await read(path)] as const)),
  );
  readme = pageAt('README.md');
});
const pageAt = (path: string): string => pages.get(path) ?? '';
const allText = () => [...pages.values()].join('\n');

describe('README.md', () => {
  it('has no broken links, nor has any page', async () => {
    const missing: string[] = [];
    for (const [page, text] of pages) {
      for (const [, link = ''] of text.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? page : new URL(path, new URL(page, ROOT)).href.slice(ROOT.href.length);
        const isFolder = await readdir(new URL(target, ROOT)).then(
          () => true,
          () => false,
        );
        const found = isFolder ? '' : await read(target).catch(() => undefined);
        const isThere = found !== undefined && (anchor === undefined || anchorsOf(found).includes(anchor));
        if (!isThere) missing.push(`${page}: ${link}`);
      }
    }
    expect(missing).toEqual([]);
  });

  it('fits one screen', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(60);
  });

  it('shows in its picture every state, and events that exist', async () => {
    const picture = await read('docs/onboarding.svg');
    const labels = [...picture.matchAll(/<text class="code[^>]*>([^<]+)</g)].map(([, label = '']) => label);
    const isEvent = (label: string) => label.includes('.');
    expect([...new Set(labels.filter((label) => !isEvent(label)))].sort()).toEqual(
      [...SESSION_STATES].sort(),
    );
    expect(labels.filter((label) => isEvent(label) && !EVENT_NAMES.some((name) => name === label))).toEqual(
      [],
    );
  });

  it('has every page of docs in its index', () => {
    const linked = new Set([...readme.matchAll(/\]\(([^)#]+)/g)].map(([, path]) => path));
    expect(docs.filter((path) => !linked.has(path))).toEqual([]);
  });

  it('explains every command of package.json, and names no other', async () => {
    const scripts = await scriptsOf();
    const commandOf = (text: string) => /npm (?:run )?([a-z][\w:]*)/.exec(text)?.[1];
    const explained = rowsOf(pageAt('docs/commands.md'), 'commands').map(([command = '']) =>
      commandOf(command),
    );
    expect(explained.sort()).toEqual([...scripts].sort());
    const named = [...allText().matchAll(/npm (?:run (?:-s )?)?([a-z][\w:]*)/g)].map(
      ([, command = '']) => command,
    );
    // `ci`, `install`, `link` and `pack` are npm's own commands. The pages also contain the words "npm commands".
    const unknown = named.filter(
      (command) => ![...scripts, 'ci', 'install', 'link', 'pack', 'commands'].includes(command),
    );
    expect(unknown).toEqual([]);
  });

  it('names calls that exist', async () => {
    const { paths } = JSON.parse(await read('openapi.json')) as { paths: Record<string, object> };
    const shapeOf = (path: string) => path.replace(/\{[^}]+\}/g, '{}');
    const known = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${shapeOf(path)}`),
    );
    const named = [...pageAt('docs/api.md').matchAll(/`((?:GET|POST) \/[^`]+)`/g)].map(([, call = '']) =>
      shapeOf(call),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((call) => !known.includes(call))).toEqual([]);
  });

  it('lists every variable with its default', () => {
    const defaults = new Map<string, string | number>(Object.entries(new Environment()));
    const isLocal = (name: string) => (LOCAL_DEFAULTS as readonly string[]).includes(name);
    const rows = rowsOf(pageAt('docs/configuration.md'), 'configuration');
    expect(rows.map(([name]) => wordsOf(name)[0]).sort()).toEqual([...ENVIRONMENT_NAMES].sort());
    for (const [name = '', value = ''] of rows) {
      const [variable = ''] = wordsOf(name);
      if (isLocal(variable)) expect([variable, value]).toEqual([variable, expect.stringMatching(/^[a-z]/)]);
      else if (variable === 'LOG_FORMAT') expect(value).toBe('');
      else expect([variable, ...wordsOf(value)]).toEqual([variable, ...textsOf(defaults.get(variable))]);
    }
  });

  it('shows what production prints when nothing is configured', () => {
    let message = '';
    try {
      readEnvironment({ NODE_ENV: 'production' });
    } catch (error) {
      if (error instanceof ConfigurationError) message = error.message;
    }
    expect(blockOf(pageAt('docs/deployment.md'), 'production')).toBe(message);
  });

  it('shows the tour as the start prints it', () => {
    const printed = tourOf({
      url: 'http://127.0.0.1:3000',
      environment: { DOCS: true, ADMIN_API_KEY: 'local_…', SCS_BASE_URL: 'http://127.0.0.1:4010' },
      withSandbox: true,
    });
    expect(blockOf(pageAt('docs/tour.md'), 'tour')).toBe(printed.trim().replace(/^ {2}/gm, ''));
  });

  it('maps every module', async () => {
    const folders = (await readdir(new URL('src', ROOT), { withFileTypes: true }))
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `src/${name}`);
    const mapped = rowsOf(pageAt('docs/architecture.md'), 'modules').map(
      ([folder = '']) => /\[([^\]]+)\]/.exec(folder)?.[1],
    );
    expect(mapped.filter((folder) => folder?.startsWith('src/')).sort()).toEqual(folders.sort());
  });

  it('names files of the modules that exist', async () => {
    for (const [folder = '', , files = ''] of rowsOf(pageAt('docs/architecture.md'), 'modules')) {
      const path = /\(\.\.\/([^)]+)\)/.exec(folder)?.[1] ?? '';
      for (const file of wordsOf(files).filter((word) => word.endsWith('.ts'))) {
        expect(await read(`${path}/${file}`)).not.toBe('');
      }
    }
  });

  it('names a test for each guarantee', async () => {
    for (const [promise, links = ''] of rowsOf(readme, 'guarantees')) {
      const paths = [...links.matchAll(/\(([^)]+)\)/g)].map(([, path = '']) => path);
      expect([promise, paths.length > 0]).toEqual([promise, true]);
      for (const path of paths) {
        const proves = /describe\('R\d+/.test(await read(path));
        expect([promise, path, proves]).toEqual([promise, path, true]);
      }
    }
  });
});

describe('the short form of docs/operations.md', () => {
  it('has only queries of docs/sql.md', () => {
    const page = pageAt('docs/sql.md');
    const queries = [...pageAt('docs/operations.md').matchAll(/^ *```sql\n(.*?)```/gms)].map(
      ([, query = '']) => query.replace(/^ {3}/gm, '').trim(),
    );
    expect(queries).toHaveLength(2);
    for (const query of queries) expect(page).toContain(query);
  });
});

describe('what docs/states.md says of states', () => {
  it('is what the rules say', () => {
    const rows = rowsOf(pageAt('docs/states.md'), 'states');
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
    const diagram = /```mermaid\n(.*?)```/s.exec(pageAt('docs/states.md'))?.[1] ?? '';
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

/** Returns every transition from a state other than `online` to `lost` or to a state of RULES. */
function transitionsOfMachine(): (readonly [SessionState, SessionState])[] {
  const reachable = [...new Set([...RULES.map(({ state }) => state), 'lost' as const])];
  return SESSION_STATES.filter((from) => from !== 'online').flatMap((from) =>
    reachable.filter((to) => to !== from).map((to) => [from, to] as const),
  );
}

import { stat } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ROW_PROBLEMS } from '../../src/campaigns/campaign.rules.js';
import { EVENT_NAMES } from '../../src/events/catalogue.rules.js';
import { SESSION_STATES } from '../../src/events/event-schemas.rules.js';
import { RULES } from '../../src/onboarding/rules/machine.rules.js';
import { ENVIRONMENT_NAMES } from '../../src/platform/env/environment-names.js';
import { Environment } from '../../src/platform/env/environment.js';
import { LOCAL_DEFAULTS } from '../../src/platform/env/read-environment.js';
import { anchorsOf, readPage, readPages, ROOT, rowsOf } from './pages.js';

const wordsOf = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);

const textsOf = (value?: string | number) => (value === undefined ? [] : [String(value)]);

let pages: ReadonlyMap<string, string>;
let allText: string;
beforeAll(async () => {
  pages = await readPages();
  allText = [...pages.values()].join('\n');
});

describe('the documents', () => {
  it('have no broken links', async () => {
    const broken: string[] = [];
    for (const [page, text] of pages) {
      for (const [, link = ''] of text.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? page : new URL(path, new URL(page, ROOT)).href.slice(ROOT.href.length);
        const found = await stat(new URL(target, ROOT)).catch(() => null);
        const isThere =
          found !== null && (anchor === undefined || anchorsOf(await readPage(target)).includes(anchor));
        if (!isThere) broken.push(`${page}: ${link}`);
      }
    }
    expect(broken).toEqual([]);
  });

  it('are all in the index of README.md', () => {
    const linked = [...pages.get('README.md')!.matchAll(/\]\(([^)#]+)/g)].map(([, path]) => path!);
    expect([...pages.keys()].filter((path) => path.startsWith('docs/') && !linked.includes(path))).toEqual(
      [],
    );
  });

  it('quote the examples that are compiled or run', async () => {
    const quotes = [...allText.matchAll(/<!-- ([\w/.-]+\.(?:ts|mjs)) -->\s+```\w+\n(.*?)```/gs)];
    expect(quotes.length).toBeGreaterThan(1);
    for (const [, path = '', quoted = ''] of quotes) {
      expect(quoted).toBe(await readPage(`clients/typescript/${path}`));
    }
  });

  it('explain every command of package.json, and name no other', async () => {
    const { scripts } = JSON.parse(await readPage('package.json')) as { scripts: object };
    const explained = rowsOf(allText, 'commands').map(
      ([command = '']) => /npm (?:run )?([a-z][\w:]*)/.exec(command)?.[1],
    );
    expect(explained.sort()).toEqual(Object.keys(scripts).sort());
    const named = [...allText.matchAll(/npm (?:run (?:-s )?)?([a-z][\w:]*)/g)].map(([, command]) => command!);
    const known = [...Object.keys(scripts), 'ci', 'install', 'link', 'pack'];
    expect(named.filter((command) => !known.includes(command))).toEqual([]);
  });

  it('list every variable with its default', () => {
    const defaults = new Map<string, string | number>(Object.entries(new Environment()));
    const rows = rowsOf(allText, 'configuration');
    expect(rows.map(([name]) => wordsOf(name)[0]).sort()).toEqual([...ENVIRONMENT_NAMES].sort());
    for (const [name, value = ''] of rows) {
      const [variable = ''] = wordsOf(name);
      const isLocal = (LOCAL_DEFAULTS as readonly string[]).includes(variable);
      if (isLocal) expect([variable, value]).toEqual([variable, expect.stringMatching(/^[a-z]/)]);
      else if (variable === 'LOG_FORMAT') expect(value).toBe('');
      else expect([variable, wordsOf(value)]).toEqual([variable, textsOf(defaults.get(variable))]);
    }
  });

  it('list every problem of a row of a campaign', () => {
    const rows = rowsOf(pages.get('docs/campaigns.md')!, 'row problems');
    expect(rows.map(([code]) => wordsOf(code)[0])).toEqual(ROW_PROBLEMS);
  });

  it('list every event', () => {
    const listed = [...pages.get('docs/events.md')!.matchAll(/^\| `([a-z_]+\.[a-z_]+)` +\|/gm)];
    expect(listed.map(([, name]) => name)).toEqual(EVENT_NAMES);
  });

  it('show every transition of a session', () => {
    const diagram = /```mermaid\n(.*?)```/s.exec(pages.get('docs/states.md')!)?.[1] ?? '';
    const choice = /state (\w+) <<choice>>/.exec(diagram)?.[1];
    const arrows = [...diagram.matchAll(/^ +(\w+) --> (\w+)$/gm)].map(([, from = '', to = '']) => [from, to]);
    const before = arrows.filter(([, to]) => to === choice).map(([from]) => from);
    const after = arrows.filter(([from]) => from === choice).map(([, to]) => to);
    expect(arrows).toHaveLength(before.length + after.length);
    expect(before.sort()).toEqual(SESSION_STATES.filter((state) => state !== 'online').sort());
    expect(after.sort()).toEqual([...new Set([...RULES.map(({ state }) => state), 'lost'])].sort());
  });

  it('lead from each promise to a test that names it', async () => {
    const rows = [...pages.get('docs/guarantees.md')!.matchAll(/^\| (R\d+) +\|(.*)\|$/gm)];
    const promises = [...(await readPage('scripts/promises.mjs')).matchAll(/\{ id: '(R\d+)'/g)];
    expect(rows.map(([, id]) => id).sort()).toEqual(promises.map(([, id]) => id).sort());
    for (const [, id, cells = ''] of rows) {
      const links = [...cells.matchAll(/\]\(\.\.\/([^)]+\.spec\.ts)\)/g)].map(([, path = '']) => path);
      const tests = await Promise.all(links.map(readPage));
      const proves = tests.some((test) => new RegExp(`['"\`]${id}[: ]`).test(test));
      expect([id, proves]).toEqual([id, true]);
    }
  });
});

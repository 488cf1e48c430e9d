import { execFile, execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Command } from 'commander';
import { ROW_PROBLEMS } from '../../src/campaigns/campaign.rules.js';
import { apiCommands } from '../../src/cli/api/api-commands.js';
import type { Description } from '../../src/cli/api/operation.rules.js';
import { checkRemoteCommand } from '../../src/cli/check-remote/check-remote.command.js';
import { eraseCommand } from '../../src/cli/erase.command.js';
import { keysCommand } from '../../src/cli/keys.command.js';
import { migrateCommand } from '../../src/cli/migrate.command.js';
import { psqlCommand } from '../../src/cli/psql.command.js';
import { rederiveCommand } from '../../src/cli/rederive.command.js';
import { restoreCommand } from '../../src/cli/restore.command.js';
import { EVENT_NAMES } from '../../src/events/catalogue.rules.js';
import { asyncapiDocument } from '../../scripts/asyncapi/document.js';
import { schemaDocument } from '../../scripts/asyncapi/schemas.js';
import { withCommandTable } from '../../scripts/openapi/command-table.js';
import { SESSION_STATES } from '../../src/events/event-schemas.rules.js';
import { RULES } from '../../src/onboarding/rules/machine.rules.js';
import { migrate } from '../../src/platform/database/migrations/migrate.js';
import { ENVIRONMENT_NAMES } from '../../src/platform/env/environment-names.js';
import { Environment } from '../../src/platform/env/environment.js';
import { LOCAL_DEFAULTS } from '../../src/platform/env/read-environment.js';
import { startReplica } from '../e2e/replica.js';
import { useFolder } from '../setup/folder.js';
import { argumentsFor } from '../setup/processes/test-process.js';
import { TestClient } from '../setup/client.js';
import { createTestDatabase } from '../setup/database/test-database.js';
import { withClient } from '../setup/database/with-client.js';
import { newEan } from '../setup/ean.js';
import { startTestApp, type TestApp } from '../setup/test-app.js';
import { waitFor } from '../setup/wait-for.js';
import { anchorsOf, blockOf, readPage, readPages, ROOT, rowsOf } from './pages.js';

const wordsOf = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);

const textsOf = (value?: string | number) => (value === undefined ? [] : [String(value)]);

let pages: ReadonlyMap<string, string>;
let allText: string;
beforeAll(async () => {
  pages = await readPages();
  allText = [...pages.values()].join('\n');
});

const unused = () => {
  throw new Error('no command runs here');
};
const throughApi = apiCommands(unused);
const others = [
  ...[checkRemoteCommand, migrateCommand, keysCommand, eraseCommand, rederiveCommand, restoreCommand].map(
    (make) => make(unused),
  ),
  psqlCommand(unused, {}),
];
const commands = [...throughApi, ...others];
const WITHOUT_JSON = { 'campaigns result': 'prints CSV', psql: 'prints what psql prints' };

/** Returns why the command line would refuse these words, or null if it would accept them. */
function faultOf([name = '', ...words]: readonly string[]): string | null {
  let command: Command | undefined = commands.find((each) => each.name() === name);
  if (command === undefined) return `there is no command ${name}`;
  const rest = [...words];
  while (command.commands.length > 0) {
    const sub = rest.shift();
    const found: Command | undefined = command.commands.find((each) => each.name() === sub);
    if (found === undefined) return `${command.name()} has no command ${sub}`;
    command = found;
  }
  const unknown = rest.filter(
    (word) => word.startsWith('--') && !command.options.some((option) => option.long === word),
  );
  return unknown.length === 0 ? null : `${command.name()} has no ${unknown.join(', ')}`;
}

/** Returns each command that has no subcommands, with its options. */
function leavesOf(command: Command, parent = ''): string[][] {
  const path = `${parent} ${command.name()}`.trim();
  if (command.commands.length > 0) return command.commands.flatMap((sub) => leavesOf(sub, path));
  return [[path, ...command.options.flatMap(({ long }) => long ?? [])]];
}

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

  it('have commands that a shell can read, of files that exist', async () => {
    const blocks = [...allText.matchAll(/^( *)```sh\n(.*?)^ *```/gms)];
    expect(blocks.length).toBeGreaterThan(20);
    for (const [, indent = '', block = ''] of blocks) {
      execFileSync('sh', ['-n'], { input: block.replaceAll(`\n${indent}`, '\n') });
      // In the shell of macOS, what is pasted has no comments: `#` and the words behind it are arguments, and `…` in them runs.
      expect(block).not.toMatch(/(^|\s)#/);
      for (const [, path = ''] of block.matchAll(/(?:^|\s)((?:ops|scripts|examples|test)\/[\w@./-]+)/g))
        expect([path, await stat(new URL(path, ROOT)).then(() => true)]).toEqual([path, true]);
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

  it('have a row for every folder of src, each with its rule of imports, and name no other', async () => {
    const entries = await readdir(new URL('src', ROOT), { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    const rows = [...pages.get('CONTRIBUTING.md')!.matchAll(/^\| \[src\/([\w-]+)\]/gm)].map(
      ([, name]) => name,
    );
    expect(rows.sort()).toEqual(folders.sort());
    const config = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
      readonly forbidden: readonly { readonly name: string; readonly from: { readonly path?: string } }[];
    };
    const ruled = config.forbidden.flatMap(({ name }) => /^([\w-]+)-imports$/.exec(name)?.[1] ?? []);
    // The command line is built of all the others.
    expect([...ruled, 'cli'].sort()).toEqual(folders);
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

  it('list every state of a session with its rules', () => {
    const rows = rowsOf(pages.get('docs/states.md')!, 'states');
    expect(rows.map(([state]) => wordsOf(state)[0])).toEqual(SESSION_STATES);
    const listed = rows.flatMap(([state = '', , , rules]) =>
      wordsOf(rules).map((rule) => [rule, wordsOf(state)[0]]),
    );
    const lost = ['not_found_on_every_path', 'refused_on_every_path'].map((rule) => [rule, 'lost']);
    expect(listed.sort()).toEqual([...RULES.map(({ rule, state }) => [rule, state]), ...lost].sort());
  });

  it('name commands and options that exist', () => {
    const named = [...pages.values()].flatMap((text) =>
      [...text.matchAll(/(?<!-n )(?:npm run (?:-s )?cli --|pv-onboarding) ([a-z][^`\n#|&\]]*)/g)].map(
        ([, words = '']) => words.trim(),
      ),
    );
    expect(named.length).toBeGreaterThan(12);
    expect(named.map((words) => faultOf(words.split(/\s+/))).filter((fault) => fault !== null)).toEqual([]);
  });

  it('lead from each promise to a test that names it', async () => {
    const page = 'docs/guarantees.md';
    const rows = [...pages.get(page)!.matchAll(/^\| (R\d+) +\|(.*)\|$/gm)];
    expect(rows.length).toBeGreaterThan(80);
    for (const [, id, cells = ''] of rows) {
      const links = [...cells.matchAll(/\]\(([^)]+\.spec\.ts)\)/g)].map(([, path = '']) =>
        posix.join(posix.dirname(page), path),
      );
      const tests = await Promise.all(links.map(readPage));
      const proves = tests.some((test) => new RegExp(`['"\`]${id}[: ]`).test(test));
      expect([id, proves]).toEqual([id, true]);
    }
  });
});

describe('docs/command-line.md', () => {
  const nameOf = (usage: string) => usage.replace(/ [A-Z_]+|`/g, '').trim();
  const documented = (table: string) =>
    rowsOf(pages.get('docs/command-line.md')!, table).map(([command = '', options = '']) => [
      nameOf(command),
      ...options.split(/[` ]+/).filter((word) => word !== ''),
    ]);

  it('has every command, with the options of those that no operation has, and no other', async () => {
    const page = pages.get('docs/command-line.md')!;
    const ofApi = throughApi.flatMap((command) => leavesOf(command));
    const listed = rowsOf(page, 'api-commands').flatMap(([command = '', commandsOrText = '']) => {
      const names = wordsOf(commandsOrText).map((usage) => `${nameOf(command)} ${nameOf(usage)}`);
      return names.length > 0 ? names : [nameOf(command)];
    });
    expect(listed).toEqual(ofApi.map(([path]) => path));
    const description = JSON.parse(await readPage('openapi.json')) as Description;
    expect(withCommandTable(page, description)).toBe(page);
    expect(documented('database-commands')).toEqual(others.flatMap((command) => leavesOf(command)));
  });
});

it('every command that prints a result has --json', () => {
  const without = commands
    .flatMap((command) => leavesOf(command))
    .filter((words) => !words.includes('--json'));
  expect(without.map(([path]) => path)).toEqual(Object.keys(WITHOUT_JSON));
});

const readJson = async (path: string) => JSON.parse(await readPage(path)) as Record<string, unknown>;

describe('asyncapi.json', () => {
  it('is what the catalogue says: otherwise run `npm run asyncapi`', async () => {
    expect(await readJson('asyncapi.json')).toEqual(JSON.parse(JSON.stringify(asyncapiDocument())));
  });
});

describe('docs/events.schema.json', () => {
  it('is what the catalogue says: otherwise run `npm run asyncapi`', async () => {
    expect(await readJson('docs/events.schema.json')).toEqual(JSON.parse(JSON.stringify(schemaDocument())));
  });

  it('is a schema that takes the event of docs/events.md, and no event without its data', async () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const validate = ajv.compile(await readJson('docs/events.schema.json'));
    const [feed = ''] = /\{\n {2}"items".*?\n\}/s.exec(pages.get('docs/events.md')!) ?? [];
    const [event] = (JSON.parse(feed) as { items: { type: string; data: { sessionId?: string } }[] }).items;
    expect(validate(event)).toBe(true);
    expect(validate({ ...event, data: {} })).toBe(false);
    expect(validate({ ...event, type: 'pv.unknown.v1' })).toBe(false);
  });
});

describe('the SQL of docs/postgresql.md', () => {
  /** Creates the role and the database of the page under other names. Returns the address of the database, and what drops all of it. */
  async function create() {
    const server = await createTestDatabase('empty');
    const name = `pv_test_${randomBytes(6).toString('hex')}`;
    const rename = (statement: string) => statement.replace(/\bpv_onboarding(_b)?\b/g, `${name}$1`);
    // The role of readers belongs to the whole server, so other tests may have created it.
    const [role, database, revoke, , member] = blockOf(pages.get('docs/postgresql.md')!, 'database').split(
      '\n',
    );
    const run = (...statements: readonly string[]) =>
      withClient(server.url, async (client) => {
        for (const statement of statements) await client.query(rename(statement));
      });
    await run(
      `DO $$ BEGIN CREATE ROLE pv_onboarding_reader; EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$`,
      role!,
      database!,
      revoke!,
      member!,
    );
    const urlOf = (username: string, password: string) =>
      Object.assign(new URL(server.url), { username: rename(username), password, pathname: `/${name}` });
    const drop = async () => {
      await run(`DROP DATABASE ${name} WITH (FORCE)`, `DROP ROLE IF EXISTS ${name}_b`, `DROP ROLE ${name}`);
      await server.drop();
    };
    return { name, run, urlOf, url: urlOf('pv_onboarding', 'change-me'), drop };
  }

  it('creates a role with few rights and a database in UTF8, which the service can migrate and read', async () => {
    const { url, drop } = await create();
    try {
      expect((await migrate(url.href)).length).toBeGreaterThan(0);
      await withClient(url.href, async (client) => {
        const { rows } = await client.query(
          `SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS "isStrong",
                  current_setting('server_encoding') AS encoding
             FROM pg_roles WHERE rolname = current_user`,
        );
        expect(rows).toEqual([{ isStrong: false, encoding: 'UTF8' }]);
        await client.query('SET ROLE pv_onboarding_reader; SELECT FROM admin.sessions LIMIT 0');
      });
    } finally {
      await drop();
    }
  });

  it('exchanges the role of a service whose password changes, without a failed request', async () => {
    const { name, url, urlOf, run, drop } = await create();
    await migrate(url.href);
    const first = await startTestApp({ DATABASE_URL: url.href });
    const statuses: number[] = [];
    let current: { readonly url: string } = first;
    let isOver = false;
    const open: TestApp['app'][] = [first.app];
    const requests = async () => {
      while (!isOver) {
        const client = new TestClient(current.url, first.adminKey);
        statuses.push(
          (
            await client.call('POST', '/users', {
              tenantReference: randomUUID(),
              gridLocations: [{ ean: newEan() }],
            })
          ).status,
        );
        statuses.push((await client.call('GET', '/users')).status);
      }
    };
    const clients = [requests(), requests()];
    try {
      await run(...blockOf(pages.get('docs/postgresql.md')!, 'second-role').split('\n'));
      const exchanged = urlOf('pv_onboarding_b', 'change-me-too').href;
      const second = await startReplica(first, { DATABASE_URL: exchanged });
      open.push(second.app);
      current = second;
      const before = statuses.length;
      await waitFor('requests to the second process', () => statuses.length > before + 10);
      await open.shift()!.close();
      await run('ALTER ROLE pv_onboarding NOLOGIN');
      // Nobody can open a connection by the first role any more, and the second process goes on.
      await expect(withClient(url.href, (client) => client.query('SELECT'))).rejects.toThrow(/log in/);
      const after = statuses.length;
      await waitFor('requests after the exchange', () => statuses.length > after + 10);
      isOver = true;
      await Promise.all(clients);
      expect(statuses.filter((status) => status !== 200 && status !== 201)).toEqual([]);
      await withClient(exchanged, async (client) => {
        await client.query('CREATE TABLE made_later ()');
        const { rows } = await client.query(
          `SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'`,
        );
        expect(rows).toEqual([{ tableowner: name }]);
      });
    } finally {
      isOver = true;
      await Promise.allSettled(clients);
      for (const app of open) await app.close();
      await first.sandbox?.stop();
      await drop();
    }
  });
});

describe('the files for systemd', () => {
  const run = promisify(execFile);

  it.each([
    ['all', 'all'],
    ['api', 'api'],
    ['api-1', 'api'],
    ['worker-12', 'worker'],
  ])('give the instance %s the ROLE %s', async (instance, role) => {
    const unit = await readFile('ops/systemd/pv-onboarding@.service', 'utf8');
    const [, script = ''] = /^ExecStart=\/bin\/sh -c '(.*)' %i$/m.exec(unit)!;
    const shell = script
      .replace(/\$\$|%%/g, ([sign]) => sign!)
      .replace('/usr/bin/node dist/main.js', 'printenv ROLE');
    expect((await run('sh', ['-c', shell, instance])).stdout).toBe(`${role}\n`);
  });

  /** Runs the rolling restart with a systemctl and a curl that only write what they are called with. The second process is ready once only. */
  async function restart(...instances: string[]) {
    const folder = await mkdtemp(join(tmpdir(), 'pv-systemd-'));
    const log = join(folder, 'log');
    await writeFile(join(folder, 'systemctl'), `#!/bin/sh\necho "$*" >> ${log}\n`, { mode: 0o755 });
    await writeFile(
      join(folder, 'curl'),
      `#!/bin/sh\nfor url; do :; done\necho "$url" >> ${log}\ncase $url in *:3001/*) [ "$(grep -c :3001/ ${log})" = 1 ] || exit 22 ;; esac\n`,
      { mode: 0o755 },
    );
    const env = { PATH: `${folder}:${process.env.PATH ?? ''}`, READY_WITHIN: '3', STOPPING: folder };
    const ended = await run('sh', ['ops/systemd/rolling-restart.sh', ...instances], { env }).then(
      () => 0,
      ({ code }: { readonly code: number }) => code,
    );
    const calls = (await readFile(log, 'utf8').catch(() => '')).split('\n').filter(Boolean);
    return { ended, calls, stopping: (await readdir(folder)).filter((name) => name.endsWith('.stopping')) };
  }

  it('restart one process after the other, and no further one after one that is not ready', async () => {
    const threeTimes = (port: number) => Array<string>(3).fill(`http://127.0.0.1:${port}/health/ready`);
    expect(await restart('api-1=3000', 'worker=3002')).toEqual({
      ended: 0,
      calls: [
        'restart pv-onboarding@api-1',
        ...threeTimes(3000),
        'restart pv-onboarding@worker',
        ...threeTimes(3002),
      ],
      stopping: [],
    });
    expect(await restart('api-2=3001', 'api-1=3000')).toEqual({
      ended: 1,
      calls: ['restart pv-onboarding@api-2', ...threeTimes(3001)],
      stopping: ['api-2.stopping'],
    });
    expect(await restart('api-1')).toEqual({ ended: 64, calls: [], stopping: [] });
  });
});

describe('the shell of docs/deployment.md', () => {
  const folder = useFolder();

  it.each(['sh', 'bash'])('reads service.env in %s as systemd does', async (shell) => {
    const file = join(folder, 'service.env');
    await writeFile(
      file,
      [
        '# a comment',
        '; another comment',
        '',
        '  PORT=3000  ',
        'SCS_PASS_THROUGH=GET a/*; POST b',
        'BRAND_NAME=Sun & Sons $HOME `id` \\ *',
        'BRAND_COLOR=#0a5c36',
        'TIME_ZONE="Europe/Brussels"',
        "DEFAULT_LOCALE='nl'",
        'CONSOLE_OIDC_GROUPS=CN=Ops,OU=PV=admin;b=users:read',
        'BRAND_TEXT={"a;b": ["admin"]}',
        'LAST=without a newline',
      ].join('\n'),
    );
    const [, ...lines] = blockOf(pages.get('docs/deployment.md')!, 'service-env').split('\n');
    const script = lines
      .slice(0, lines.findIndex((line) => line.startsWith('done')) + 1)
      .join('\n')
      .replace('/etc/pv-onboarding/service.env', file);
    const { stdout } = await promisify(execFile)(shell, ['-c', `${script}\nexec env -0`], { env: {} });
    const found = Object.fromEntries(
      stdout.split('\0').map((pair) => [pair.split('=')[0], pair.slice(pair.indexOf('=') + 1)]),
    );
    expect(found).toMatchObject({
      PORT: '3000',
      SCS_PASS_THROUGH: 'GET a/*; POST b',
      BRAND_NAME: 'Sun & Sons $HOME `id` \\ *',
      BRAND_COLOR: '#0a5c36',
      TIME_ZONE: 'Europe/Brussels',
      DEFAULT_LOCALE: 'nl',
      CONSOLE_OIDC_GROUPS: 'CN=Ops,OU=PV=admin;b=users:read',
      BRAND_TEXT: '{"a;b": ["admin"]}',
      LAST: 'without a newline',
    });
  });

  it('makes secrets that nobody else reads, with which the commands find the database', async () => {
    const database = await createTestDatabase();
    const page = pages.get('docs/deployment.md')!;
    const setup = /```sh\n(useradd [^]*?)```/.exec(page)![1]!;
    const etc = join(folder, 'etc/pv-onboarding');
    await mkdir(join(folder, 'etc/systemd/system'), { recursive: true });
    const inFolder = (script: string): string =>
      script
        .replaceAll('/etc/', `${folder}/etc/`)
        .replace(/postgresql:[^']*/, database.url)
        .replace('/opt/pv-onboarding &&', `${process.cwd()} &&`)
        .replace('node dist/cli/main.js', [process.execPath, ...argumentsFor('src/cli/main.ts')].join(' '));
    const run = async (script: string) =>
      (await promisify(execFile)('sh', ['-ec', script], { cwd: ROOT, env: { PATH: process.env.PATH } }))
        .stdout;
    try {
      await run(`useradd() { test "$5" = pv-onboarding || test "$6" = pv-onboarding; }\n${inFolder(setup)}`);
      expect(((await stat(join(etc, 'secrets'))).mode & 0o777).toString(8)).toBe('700');
      await writeFile(join(etc, 'service.env'), 'SCS_BASE_URL=http://127.0.0.1:9\nSCS_CLIENT_ID=client\n');
      for (const name of ['SCS_API_KEY', 'SCS_CLIENT_SECRET'])
        await writeFile(join(etc, 'secrets', name), `${randomUUID()}\n`);
      const listing = inFolder(blockOf(page, 'service-env'));
      await run(listing.replace('keys list', 'keys create helpdesk --scopes users:read'));
      expect(await run(listing)).toContain('helpdesk');
    } finally {
      await database.drop();
    }
  });
});

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { removeRunningService, writeRunningService } from '../../../src/local/running-service.js';
import { blockOf, masked, readPage, ROOT } from '../../docs/pages.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { startTestProcess, type TestProcess } from '../../setup/processes/test-process.js';
import { waitFor } from '../../setup/wait-for.js';

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const PATIENCE_MS = 90_000;
const isInstalled = (program: string) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
/** Installed shells, each with the option that skips the user's startup files. */
const SHELLS = Object.entries({ bash: '--norc', zsh: '-f' }).filter(([shell]) => isInstalled(shell));

let folder: string;
let database: TestDatabase;
let service: TestProcess;
let printed: string;

const run = (program: string, args: readonly string[], cwd = folder, own = {}): Promise<Ended> =>
  new Promise((resolve) => {
    const env = { PATH: process.env.PATH, ...own };
    const child = execFile(
      program,
      args,
      { cwd, env, timeout: PATIENCE_MS / 2 },
      (_error, stdout, stderr) => {
        resolve({ code: child.exitCode, stdout, stderr });
      },
    );
  });

/** Runs what `npm run demo` runs after its build. */
const runDemo = (cwd = folder, env = {}): Promise<Ended> => {
  const script = `
    import { demo } from ${JSON.stringify(new URL('scripts/demo.mjs', ROOT).href)};
    await demo().catch((error) => { console.error(error.isForPeople ? error.message : error); process.exitCode = 1; });`;
  return run(process.execPath, ['--input-type=module', '-e', script], cwd, env);
};

/** Drops repeated lines and transient states, because they vary between runs. */
const essence = (output: string): string[] =>
  masked(output)
    .split('\n')
    .filter((line, index, lines) => line !== lines[index - 1] && !line.includes('awaiting_'));

// Starts the service as `npm start` does, but with a test database, because an embedded database starts more slowly.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pv-onboarding-demo-'));
  database = await createTestDatabase();
  const env = { PORT: '0', SANDBOX_PORT: '0', DATABASE_URL: database.url };
  service = await startTestProcess('src/main.ts', env, folder);
  printed = await waitFor(
    'the tour',
    () => /\n {2}PV Onboarding {3}.*\/complete\n/s.exec(service.logs())?.[0],
  );
}, PATIENCE_MS);
afterAll(async () => {
  await service.stop();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

describe('the tour that a start prints', () => {
  const find = (pattern: RegExp): string => pattern.exec(printed)?.[1] ?? '';
  const lines = () => /^ {2}(KEY=.*)\n {2}(SESSION=.*)\n {2}(while .*)$/m.exec(printed)?.slice(1) ?? [];

  it(
    'ends online in every installed shell',
    async () => {
      expect(SHELLS).not.toEqual([]);
      for (const [shell, clean] of SHELLS) {
        const complete = find(/^ {2}(curl .*\/complete)$/m);
        const [register, start, watch] = lines();
        const { code, stdout, stderr } = await run(shell, [
          clean,
          '-c',
          [register, start, complete, watch].join('\n'),
        ]);
        expect([shell, code, ...essence(`${stderr}${stdout}`)]).toEqual([
          shell,
          0,
          // In the second shell, the location is online already.
          shell === SHELLS[0]![0] ? 'http://<address>/pv-onboarding/<link>' : 'null',
          'online <id>',
        ]);
      }
    },
    PATIENCE_MS,
  );
});

describe('the tour of README.md', () => {
  it(
    'gives what it says',
    async () => {
      const readme = await readPage('README.md');
      const step = async (name: string, values: Readonly<Record<string, string>>, text = readme) => {
        const block = blockOf(text.replace(/^ {3}/gm, ''), `tour: ${name}`).replace(/^\w+=….*\n/gm, '');
        const given = Object.entries({ API: `${service.url}/api/v1`, ...values });
        const assignments = given.map(([variable, value]) => `${variable}=${value}\n`).join('');
        const filled = `${blockOf(readme, 'tour: setup')}\n${assignments}${block}`;
        const { stdout } = await run('bash', ['--norc', '-c', filled]);
        return JSON.parse(stdout) as {
          id: string;
          url: string;
          status: string;
          gridLocations: { id: string }[];
          items: object[];
        };
      };
      const KEY = /Administrator key +(\S+)/.exec(printed)?.[1] ?? '';
      const user = await step('register', { KEY });
      const LOCATION = user.gridLocations[0]!.id;
      const { url } = await step('invite', { KEY, LOCATION });
      expect((await fetch(url, { method: 'POST', redirect: 'manual' })).status).toBe(303);
      const sessions = await step('wait', { KEY, LOCATION });
      expect(sessions.items).toMatchObject([{ state: expect.any(String), inverters: expect.any(Array) }]);
      const { items } = await step('events', { KEY });
      expect(items.length).toBeGreaterThan(0);
      const [, operation, kind] = /Choose `(\w+)` and press `(\w+)`/.exec(readme)!;
      const [, reference, ean] = /with the reference\s+`([\w-]+)` and the EAN `(\d+)`/.exec(readme)!;
      const [, sandbox] = /Remote service +(\S+)/.exec(printed)!;
      const button = new URLSearchParams({ operation: operation!, kind: kind! });
      await fetch(`${sandbox}/play/faults`, { method: 'POST', body: button, headers: { origin: sandbox! } });
      const other = readme.replace('"tour-1"', `"${reference}"`).replace('"871685900000000011"', `"${ean}"`);
      expect((await step('register', { KEY }, other)).status).toBe('uncertain');
      expect(await (await fetch(`${sandbox}/?q=${reference}`)).text()).toContain(ean);
    },
    PATIENCE_MS,
  );
});

describe('npm run demo', () => {
  it(
    'drives a customer online and prints what happens',
    async () => {
      const { code, stdout, stderr } = await runDemo();
      expect([code, stderr]).toEqual([0, '']);
      for (const name of ['user.registered', 'session.started', 'session.online', 'inverter.online'])
        expect(stdout).toMatch(new RegExp(`event +\\d{19} pv\\.${name}\\.v1`));
      expect(stdout).toMatch(/done +the installation is online: inverter [0-9a-f-]{36}\n/);
    },
    PATIENCE_MS,
  );

  it('says that no service runs, and what to do', async () => {
    const empty = await mkdtemp(join(folder, 'empty-'));
    expect(await runDemo(empty)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'No service runs here. Start it with `npm start`, then run the demo beside it.\n',
    });
  });

  it('names the key that the service refuses', async () => {
    const { code, stderr } = await runDemo(folder, { ADMIN_API_KEY: 'another key' });
    const problem = /401 unauthenticated: .* \(ADMIN_API_KEY must be that of the running service\)/;
    expect([code, stderr]).toEqual([1, expect.stringMatching(problem)]);
  });

  it('invents no customer at a real service', async () => {
    const other = await mkdtemp(join(folder, 'other-'));
    const data = join(other, '.data');
    await mkdir(data);
    // Our own API acts as a remote service that is not the sandbox.
    await writeRunningService(data, { url: service.url, databaseUrl: database.url, remoteUrl: service.url });
    const { code, stderr } = await runDemo(other);
    expect([code, stderr]).toEqual([1, expect.stringContaining('is not the sandbox')]);
    await removeRunningService(data);
  });
});

import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readPage } from '../../docs/pages.js';
import { createTestDatabase, type TestDatabase } from '../../setup/test-database.js';
import { CREDENTIALS, testEnvironment } from '../../setup/test-environment.js';
import { waitFor } from '../../setup/wait-for.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Prints all progress that a preparation may print, and builds nothing. */
const PREPARE = `
  import { exclusively } from './exclusively.mjs';
  import { progress } from './progress.mjs';
  export const prepare = () => exclusively('.data', 'prepare', async () => progress('building')());
`;

let database: TestDatabase;
let folder: string;

// A folder of its own, as after `npm ci` and `npm run build`.
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'pv-npm-'));
  for (const name of ['package.json', '.npmrc', 'scripts'])
    await cp(join(ROOT, name), join(folder, name), { recursive: true });
  await symlink(join(ROOT, 'dist'), join(folder, 'dist'));
  await writeFile(join(folder, 'scripts/prepare.mjs'), PREPARE);
  await mkdir(join(folder, '.data'));
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

it('the documented command prints nothing but JSON through npm, also while the service is built', async () => {
  const page = await readPage('docs/command-line.md');
  const [, command = ''] = /^(npm .* cli -- .*--json) \| jq /m.exec(page)!;
  const lock = join(folder, '.data/prepare.lock');
  await writeFile(lock, String(process.pid));
  const { PATH, HOME } = process.env;
  const npm = { npm_config_cache: join(folder, 'npm'), npm_config_update_notifier: 'false' };
  const service = {
    ...testEnvironment(),
    ...CREDENTIALS,
    DATABASE_URL: database.url,
    SCS_BASE_URL: 'http://127.0.0.1:9',
  };
  const running = promisify(execFile)('sh', ['-c', command], {
    cwd: folder,
    env: { PATH, HOME, ...npm, ...service },
  });
  let err = '';
  running.child.stderr!.on('data', (text: string) => (err += text));
  await waitFor('the wait for the other process', () => err.includes(`waiting for process ${process.pid}`));
  await rm(lock);
  const { stdout, stderr } = await running;
  expect(JSON.parse(stdout)).toEqual({ items: [], next: null });
  expect(stderr).toMatch(/^building …\nbuilding: done after \d+ s$/m);
});

import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readBuild, readCommit } from './build.js';

const COMMIT = '0123456789abcdef0123456789abcdef01234567';

describe('the commit', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pv-build-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('is the one that the build of the image wrote', async () => {
    await writeFile(join(folder, 'commit'), `${COMMIT}\n`);
    expect(await readCommit(folder)).toBe(COMMIT);
  });

  it('is that of the clone, and not that of a clone around it', async () => {
    const git = (...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
        cwd: folder,
        encoding: 'utf8',
      });
    git('init', '--quiet');
    git('commit', '--quiet', '--allow-empty', '--message', 'first');
    await writeFile(join(folder, 'commit'), '');
    expect(await readCommit(folder)).toBe(git('rev-parse', 'HEAD').trim());
    await mkdir(join(folder, 'inner'));
    expect(await readCommit(join(folder, 'inner'))).toBeNull();
  });

  it('is that of a clone that belongs to another user than the process', () => {
    const run = (file: string, ...args: string[]): string =>
      execFileSync('env', ['GIT_TEST_ASSUME_DIFFERENT_OWNER=true', file, ...args], {
        cwd: folder,
        encoding: 'utf8',
        stdio: 'pipe',
      }).trim();
    run('git', 'init', '--quiet');
    const trusted = ['-c', `safe.directory=${realpathSync(folder)}`];
    const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
    run('git', ...trusted, ...author, 'commit', '--quiet', '--allow-empty', '--message', 'first');
    expect(() => run('git', 'rev-parse', 'HEAD')).toThrow('dubious ownership');
    const script = `import { readCommit } from '${new URL('build.ts', import.meta.url).href}'; console.log(await readCommit('.'));`;
    const compile = new URL('../../test/setup/compile/typescript.mjs', import.meta.url).href;
    const read = run(process.execPath, '--import', compile, '--input-type=module', '--eval', script);
    expect(read).toBe(run('git', ...trusted, 'rev-parse', 'HEAD'));
  });

  it('is null if nothing tells it', async () => {
    expect(await readCommit(folder)).toBeNull();
  });
});

it('a build has a version and the name of its newest migration', async () => {
  expect(await readBuild()).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    newestMigration: expect.stringMatching(/^\d{14}_/),
  });
});

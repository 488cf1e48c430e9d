import { execFile } from 'node:child_process';
import { access, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { transform } from '@swc/core';
import { exclusively } from '../../../scripts/exclusively.mjs';
import { ROOT } from '../../../scripts/root.mjs';
import { swcOptions } from './swc-options.mjs';

// Builds the release of a commit of the git history, unless it has been built before: `node build-release.mjs <commit>`. Prints the path of
// the file that starts it.

const run = promisify(execFile);
/** Contains the built releases. It is beside the bundled packages of the test build, so that a release loads as fast as the code under test. */
const FOLDER = 'node_modules/.cache/test-build/releases';
const PARTS = ['src', 'prisma', 'prisma.config.ts', 'package.json', 'tsconfig.json'];

const commit = process.argv[2] ?? '';
const main = join(FOLDER, commit, 'dist', 'main.js');
await exclusively(join(ROOT, FOLDER), commit, async () => {
  if (!(await exists(join(ROOT, main)))) await build(join(ROOT, FOLDER, commit));
});
process.stdout.write(main);

async function build(folder) {
  const draft = `${folder}.draft`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  await checkOut(draft);
  const prisma = join(ROOT, 'node_modules/prisma/build/index.js');
  await run(process.execPath, [prisma, 'generate'], {
    cwd: draft,
    env: { ...process.env, CHECKPOINT_DISABLE: '1', PRISMA_HIDE_UPDATE_MESSAGE: '1' },
  });
  const names = await readdir(join(draft, 'src'), { recursive: true });
  await Promise.all(
    names
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
      .map((name) => compile(join(draft, 'src', name), join(draft, 'dist', name.replace(/\.ts$/, '.js')))),
  );
  await rm(folder, { recursive: true, force: true });
  await rename(draft, folder);
}

async function checkOut(folder) {
  const archive = join(folder, 'release.tar');
  await run('git', ['archive', '-o', archive, commit, ...PARTS], { cwd: ROOT });
  await run('tar', ['-xf', archive, '-C', folder]);
}

async function compile(filename, file) {
  const { code } = await transform(await readFile(filename, 'utf8'), {
    ...swcOptions,
    filename,
    swcrc: false,
  });
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, code);
}

async function exists(file) {
  return access(file).then(
    () => true,
    () => false,
  );
}

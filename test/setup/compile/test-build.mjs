import { mkdir, readFile, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';
import { exclusively } from '../../../scripts/exclusively.mjs';
import { isBuilt } from '../../../scripts/prepare.mjs';
import { ROOT } from '../../../scripts/root.mjs';
import { bundlePackages } from './bundle-packages.mjs';
import { swcOptions } from './swc-options.mjs';

/** The test build: `test` and `scripts` compiled to JavaScript, a link from `src` to `dist`, and bundled packages. */
const FOLDER = fileURLToPath(new URL('../../../node_modules/.cache/test-build', import.meta.url));

/** Links in the test build, by name, with their targets in the repository. */
const LINKS = {
  src: 'dist',
  dist: 'dist',
  sandbox: 'dist/sandbox',
  pages: 'pages',
  prisma: 'prisma',
  'package.json': 'package.json',
  'openapi.json': 'openapi.json',
  'asyncapi.json': 'asyncapi.json',
};

/**
 * Makes the test build, because compiling each file at its import (typescript.mjs) takes longer than the start of the service. Returns
 * the folder of the build, or undefined if `dist` is out of date.
 */
export async function buildTests() {
  await mkdir(FOLDER, { recursive: true });
  await exclusively(FOLDER, 'packages', () => bundlePackages(join(FOLDER, 'node_modules')));
  if (!(await isBuilt())) return undefined;
  for (const [name, target] of Object.entries(LINKS)) {
    // The link is relative, so that it leads to the right clone in a copy of node_modules.
    await symlink(relative(FOLDER, join(ROOT, target)), join(FOLDER, name)).catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
  for (const folder of ['test', 'scripts']) {
    const names = await readdir(join(ROOT, folder), { recursive: true });
    const needed = names.filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'));
    await Promise.all(needed.map((name) => build(join(folder, name))));
  }
  return FOLDER;
}

async function build(name) {
  const filename = join(ROOT, name);
  const file = join(FOLDER, name.replace(/\.ts$/, '.js'));
  const { code } = await transform(await readFile(filename, 'utf8'), {
    ...swcOptions,
    filename,
    swcrc: false,
  });
  await mkdir(dirname(file), { recursive: true });
  // Writes another file and renames it, because another run may be reading the old file.
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, code);
  await rename(draft, file);
}

import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

// Checks what a browser loads, compressed as a proxy compresses it: at most 350 kB for the whole console, and 200 kB for its first page.
const FOLDER = 'dist/console';
const FIRST_PAGE = 'src/pages/duty.tsx';
const MOST_BYTES = { 'the first page': 200_000, 'the whole console': 350_000 };

/** @typedef {{ file: string, css?: string[], imports?: string[] }} Chunk */
/** @type {Record<string, Chunk>} */
const manifest = JSON.parse(await readFile(join(FOLDER, '.vite/manifest.json'), 'utf8'));

/** @returns {string[]} the files of a chunk and of all that it imports. */
const filesOf = (name, seen = new Set()) => {
  if (seen.has(name)) return [];
  seen.add(name);
  const { file, css = [], imports = [] } = manifest[name];
  return [file, ...css, ...imports.flatMap((each) => filesOf(each, seen))];
};
const all = (await readdir(FOLDER, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile() && entry.name !== 'manifest.json')
  .map(({ parentPath, name }) => join(parentPath, name).slice(FOLDER.length + 1));
const files = {
  'the first page': new Set(['index.html', ...filesOf('index.html'), ...filesOf(FIRST_PAGE)]),
  'the whole console': new Set(all),
};
for (const [name, most] of Object.entries(MOST_BYTES)) {
  const sizes = await Promise.all(
    [...files[name]].map(async (file) => gzipSync(await readFile(join(FOLDER, file))).length),
  );
  const bytes = sizes.reduce((sum, each) => sum + each, 0);
  console.log(`${name}: ${(bytes / 1_000).toFixed(1)} kB compressed, at most ${most / 1_000} kB`);
  if (bytes > most) process.exitCode = 1;
}

import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

// Checks that a browser loads less than 250 kB for the whole console, compressed as a proxy compresses it.
const FOLDER = 'dist/console';
const MOST_BYTES = 250_000;

const entries = await readdir(FOLDER, { recursive: true, withFileTypes: true });
const sizes = await Promise.all(
  entries
    .filter((entry) => entry.isFile())
    .map(async ({ parentPath, name }) => gzipSync(await readFile(join(parentPath, name))).length),
);
const bytes = sizes.reduce((sum, each) => sum + each, 0);
console.log(`${(bytes / 1_000).toFixed(1)} kB compressed`);
process.exitCode = sizes.length > 0 && bytes < MOST_BYTES ? 0 : 1;

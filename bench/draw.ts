import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import type { BenchResult } from './harness/result.js';
import { barsOf } from './report/bars.js';
import { fillIn } from './report/performance-text.js';

// Writes the figures and drawings of docs/performance.md from bench/results/*.json. With --check, only reports outdated files.

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const RESULTS = pathOf('./results/');
const TEXT = pathOf('../docs/performance.md');
const DRAWINGS = pathOf('../docs/performance/');

const results = await readResults();
const config = await resolveConfig(TEXT);
const text = await format(fillIn(await readFile(TEXT, 'utf8'), results), { ...config, filepath: TEXT });
const files = new Map([[TEXT, text]]);
for (const result of results) {
  for (const [file, drawing] of barsOf(result)) files.set(DRAWINGS + file, drawing);
}

if (process.argv.includes('--check')) {
  for (const [file, wanted] of files) {
    if ((await readFile(file, 'utf8').catch(() => '')) === wanted) continue;
    console.error(`${file} is not made from bench/results; run npm run bench -- draw`);
    process.exitCode = 1;
  }
} else {
  await mkdir(DRAWINGS, { recursive: true });
  for (const [file, content] of files) await writeFile(file, content);
}

async function readResults(): Promise<BenchResult[]> {
  const names = (await readdir(RESULTS).catch(() => [])).filter((name) => name.endsWith('.json')).toSorted();
  const texts = await Promise.all(names.map((name) => readFile(RESULTS + name, 'utf8')));
  return texts.map((json) => JSON.parse(json) as BenchResult);
}

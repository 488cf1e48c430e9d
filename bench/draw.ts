import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import type { BenchResult } from './harness/result.js';

// Writes the tables of bench/README.md from bench/results/*.json. With --check, only reports an outdated page.

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const PAGE = pathOf('./README.md');
/** Place for the columns A and B, after the first column, of the table N of the benchmark NAME: `<!-- table NAME.N: A | B --><!-- end -->`. */
const PLACE = /(<!-- table (\w+)\.(\d+): (.+?) -->)[^]*?(<!-- end -->)/g;

const before = await readFile(PAGE, 'utf8');
const names = ['poll', 'flat', 'freshness', 'api', 'events', 'campaigns'];
const results = new Map<string, BenchResult>();
for (const name of names)
  results.set(name, JSON.parse(await readFile(pathOf(`./results/${name}.json`), 'utf8')) as BenchResult);
const filled = before.replace(
  PLACE,
  (_, open: string, name: string, nth: string, columns: string, close: string) =>
    `${open}\n\n${tableOf(results.get(name)!, Number(nth), columns.split(' | '))}\n\n${close}`,
);
const after = await format(filled, { ...(await resolveConfig(PAGE)), filepath: PAGE });

if (!process.argv.includes('--check')) await writeFile(PAGE, after);
else if (after !== before) {
  console.error('bench/README.md is not made from bench/results; run npm run bench -- draw');
  process.exitCode = 1;
}

function tableOf({ tables }: BenchResult, nth: number, wanted: readonly string[]): string {
  const { columns, rows } = tables[nth - 1]!;
  const places = wanted.map((column) => columns.indexOf(column));
  if (places.includes(-1))
    throw new Error(`not all of ${wanted.join(', ')} are columns: ${columns.join(', ')}`);
  return markdown(
    ['', ...wanted],
    rows.map((row) => [row[0]!, ...places.map((place) => row[place]!)]),
  );
}

function markdown(columns: readonly string[], rows: readonly (readonly (string | number | null)[])[]) {
  const line = (cells: readonly (string | number | null)[]) =>
    `| ${cells.map((cell) => cell ?? '').join(' | ')} |`;
  const rule = columns.map((_, nth) => (nth === 0 ? '---' : '--:'));
  return [line(columns), line(rule), ...rows.map(line)].join('\n');
}

import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type BenchResult, type ResultTable, verdictOf } from './result.js';

const RESULTS = fileURLToPath(new URL('../results/', import.meta.url));

function machineFacts(): Record<string, string | number> {
  return {
    platform: `${process.platform} ${process.arch}`,
    cores: availableParallelism(),
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    measuredOn: new Date().toISOString().slice(0, 10),
  };
}

function versionsOf(packages: readonly string[]): Record<string, string> {
  const { dependencies, devDependencies } = createRequire(import.meta.url)('../../package.json') as Record<
    string,
    Record<string, string>
  >;
  const pinned = { ...dependencies, ...devDependencies };
  return Object.fromEntries(packages.map((name) => [name, pinned[name] ?? 'unknown']));
}

export type Findings = Omit<BenchResult, 'machine' | 'versions'> & {
  readonly packages: readonly string[];
  readonly postgresql?: string;
};

/** Prints the findings and writes bench/results/NAME.json, or bench/results/quick/NAME.json if the run is not a valid result. */
export async function report({ packages, postgresql, ...found }: Findings): Promise<void> {
  const result: BenchResult = {
    ...found,
    machine: machineFacts(),
    versions: {
      node: process.versions.node,
      ...(postgresql === undefined ? {} : { postgresql }),
      ...versionsOf(packages),
    },
  };
  console.log(textOf(result));
  if (!result.control.isValid) process.exitCode = 1;
  const folder = result.isTrial || !result.control.isValid ? `${RESULTS}quick/` : RESULTS;
  await mkdir(folder, { recursive: true });
  await writeFile(`${folder}${result.benchmark}.json`, `${JSON.stringify(result, null, 2)}\n`);
}

function textOf({ title, extent, tables, targets, control, isTrial }: BenchResult): string {
  const { ratio, least, most, isValid } = control;
  const verdict = isValid
    ? `control ${ratio}, within ${least} to ${most}`
    : `VOID: the control is ${ratio}, not within ${least} to ${most}; the machine was not quiet`;
  return [
    `\n${title}\n${extent}${isTrial ? '; a trial, not a result' : ''}`,
    ...tables.map(textOfTable),
    `${verdict}\n${targets.map(verdictOf).join('\n')}`,
  ].join('\n\n');
}

function textOfTable({ title, columns, rows }: ResultTable): string {
  const all = [columns, ...rows].map((row) => row.map((cell) => (cell === null ? '-' : String(cell))));
  const widths = columns.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
      .join('  '),
  );
  return [title, ...lines].join('\n');
}

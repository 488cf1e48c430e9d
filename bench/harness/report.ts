import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type BenchResult, type ResultTable, verdictOf } from './result.js';

const RESULTS = fileURLToPath(new URL('../results/', import.meta.url));

/** What the figures depend on besides the code. */
function machineFacts(): Record<string, string | number> {
  return {
    platform: `${process.platform} ${process.arch}`,
    cores: availableParallelism(),
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    measuredOn: new Date().toISOString().slice(0, 10),
  };
}

/** As package.json pins them. */
function versionsOf(packages: readonly string[]): Record<string, string> {
  const { dependencies, devDependencies } = createRequire(import.meta.url)('../../package.json') as Record<
    string,
    Record<string, string>
  >;
  const pinned = { ...dependencies, ...devDependencies };
  return Object.fromEntries(packages.map((name) => [name, pinned[name] ?? 'unknown']));
}

export type Findings = Omit<BenchResult, 'machine' | 'versions'> & {
  /** What the figures depend on. */
  readonly packages: readonly string[];
  readonly postgresql?: string;
};

/** Prints what was found and writes it to bench/results/NAME.json; a look and a void run beside the results, not over them. */
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
  const folder = result.isLook || !result.control.isValid ? `${RESULTS}quick/` : RESULTS;
  await mkdir(folder, { recursive: true });
  await writeFile(`${folder}${result.benchmark}.json`, `${JSON.stringify(result, null, 2)}\n`);
}

function textOf({ title, extent, tables, targets, control, isLook }: BenchResult): string {
  const { ratio, least, most, isValid } = control;
  const verdict = isValid
    ? `control ${ratio}, within ${least} to ${most}`
    : `VOID: the control is ${ratio}, not within ${least} to ${most}; the machine was not quiet`;
  return [
    `\n${title}\n${extent}${isLook ? '; a look, not a result' : ''}`,
    ...tables.map(textOfTable),
    `${verdict}\n${targets.map(verdictOf).join('\n')}`,
  ].join('\n\n');
}

/** Columns of text, the first to the left and the others to the right. */
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

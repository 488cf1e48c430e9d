import type { BenchResult, ResultTable, Target } from '../harness/result.js';
import { drawingOf } from './bars.js';

/** Replaces the text between `<!-- figures of NAME -->` and `<!-- end of NAME -->` with the figures of that benchmark. */
export function fillIn(text: string, results: readonly BenchResult[]): string {
  const byName = new Map(results.map((result) => [result.benchmark, result]));
  return text.replace(
    /<!-- figures of (\w+) -->[^]*?<!-- end of \1 -->/g,
    (_, name: string) =>
      `<!-- figures of ${name} -->\n\n${figuresOf(byName.get(name))}\n\n<!-- end of ${name} -->`,
  );
}

function figuresOf(result: BenchResult | undefined): string {
  if (result === undefined) return 'Not measured yet.';
  const { benchmark, extent, isTrial, control, targets, tables, machine, versions } = result;
  const { ratio, least, most, isValid } = control;
  const trust = isValid
    ? `The same thing measured twice differed by a factor of ${ratio} (${least} to ${most} is accepted).`
    : `**Void**: the same thing measured twice differed by a factor of ${ratio}, so the machine was not quiet and nothing here counts.`;
  return [
    `${isTrial ? '**A trial, not a result.** ' : ''}${extent}. ${trust}`,
    targets.length === 0 ? '' : targetTable(targets),
    ...tables.map((table, nth) => tableText(table, benchmark, nth)),
    `${namesAndValues(machine)}; ${namesAndValues(versions)}`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function targetTable(targets: readonly Target[]): string {
  return markdown(
    ['target', 'wanted', 'measured', ''],
    targets.map(({ says, bound, limit, unit, measured, isMet }) => [
      says,
      `${bound} ${limit} ${unit}`.trim(),
      `${measured} ${unit}`.trim(),
      isMet ? 'met' : '**not met**',
    ]),
  );
}

function tableText(table: ResultTable, benchmark: string, nth: number): string {
  const { title, columns, rows, bar } = table;
  const picture = bar === undefined ? '' : `\n\n![${title}](performance/${drawingOf(benchmark, nth)})`;
  return `**${title}**${picture}\n\n${markdown(columns, rows)}`;
}

function markdown(columns: readonly string[], rows: readonly (readonly (string | number | null)[])[]) {
  const line = (cells: readonly (string | number | null)[]) =>
    `| ${cells.map((cell) => (cell === null ? '' : String(cell).replaceAll('|', '\\|'))).join(' | ')} |`;
  const rule = columns.map((_, nth) => (nth === 0 ? '---' : '--:'));
  return [line(columns), line(rule), ...rows.map(line)].join('\n');
}

const namesAndValues = (facts: Readonly<Record<string, string | number>>): string =>
  Object.entries(facts)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

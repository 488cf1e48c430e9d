import type { BenchResult, ResultTable } from '../harness/result.js';

const WIDTH = 760;
const NAME_WIDTH = 300;
const VALUE_WIDTH = 100;
const ROW = 26;
const TOP = 44;
const FONT = `font-family="system-ui, sans-serif" font-size="13"`;

/** Returns an SVG file for each table with a `bar` column. */
export function barsOf({ benchmark, tables }: BenchResult): [file: string, svg: string][] {
  return tables.flatMap((table, nth): [string, string][] =>
    table.bar === undefined ? [] : [[drawingOf(benchmark, nth), draw(table, table.bar)]],
  );
}

export const drawingOf = (benchmark: string, table: number): string => `${benchmark}-${table + 1}.svg`;

/** Draws on a white background, so that the black text is readable on a dark page. */
function draw({ title, columns, rows }: ResultTable, column: number): string {
  const values = rows.map((row) => Number(row[column] ?? 0));
  const most = Math.max(...values, Number.MIN_VALUE);
  const height = TOP + rows.length * ROW + 12;
  const lines = rows.map((row, nth) => {
    const y = TOP + nth * ROW;
    const width = Math.max(1, Math.round(((WIDTH - NAME_WIDTH - VALUE_WIDTH) * values[nth]!) / most));
    const isOurs = /^(our |append |relay|stream|handler|webhook|POST |Remote\.send|\d)/.test(String(row[0]));
    return [
      `<text x="${NAME_WIDTH - 10}" y="${y + 17}" text-anchor="end">${escaped(String(row[0]))}</text>`,
      `<rect x="${NAME_WIDTH}" y="${y + 5}" width="${width}" height="${ROW - 10}" fill="${isOurs ? '#1f6feb' : '#9aa4b2'}"/>`,
      `<text x="${NAME_WIDTH + width + 8}" y="${y + 17}">${row[column] === null ? 'unknown' : values[nth]!.toLocaleString('en')}</text>`,
    ].join('\n  ');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" ${FONT}>
  <rect width="${WIDTH}" height="${height}" fill="#ffffff"/>
  <text x="12" y="24" font-weight="600">${escaped(`${title}: ${columns[column]}`)}</text>
  ${lines.join('\n  ')}
</svg>
`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

import type { Client, Schemas } from '#client/client.js';
import { print } from '../print.js';
import { count } from './progress.rules.js';
import { printTable } from './table.js';

type Campaign = Schemas['CampaignView'];
type Row = Schemas['CampaignRowView'];
type RowProblem = Schemas['RowProblemView'];

/** The maximum number of rows that the report names for one problem. */
const NAMED_ROWS = 10;
const GOOD: readonly string[] = ['accepted', 'registered', 'known'];

/** Returns whether each row has ended well or, after a dry run, would be registered. A session that cannot be read is not a good end. */
export const endedWell = ({ counts, problems }: Pick<Campaign, 'counts' | 'problems'>): boolean =>
  Object.entries(counts).every(([status, rows]) => rows === 0 || GOOD.includes(status)) &&
  !problems.session_not_read;

/**
 * Prints how many rows have each result, and the first rows with each problem. Omits a problem if the campaign `before` has it in the same
 * number of rows.
 */
export async function printReport(
  client: Client,
  { id, dryRun, format, rows, counts, problems, brands }: Campaign,
  before: Campaign['problems'] = {},
): Promise<void> {
  const { type, encoding, delimiter } = format;
  const separator = delimiter === null ? '' : `, separator ${delimiter === '\t' ? 'tab' : delimiter}`;
  const read = `${rowsOf(rows)} of ${type.toUpperCase()}, ${encoding}${separator}`;
  printWrapped(`${dryRun ? 'the dry run read' : 'the campaign has'} ${read}`);
  const results = Object.entries(counts).filter(([, number]) => number > 0);
  printTable({ RESULT: ([result]) => result, ROWS: ([, number]) => count(number) }, results);
  if (brands.length > 0)
    printTable({ BRAND: ({ brand }) => brand, ROWS: (each) => count(each.rows) }, brands);
  for (const [problem, number] of Object.entries(problems).filter(([code, rows]) => before[code] !== rows)) {
    print('');
    print(`${problem}: ${rowsOf(number)}`);
    const query = { problem: problem as RowProblem['code'], limit: NAMED_ROWS };
    const { data } = await client.GET('/api/v1/campaigns/{id}/rows', { params: { path: { id }, query } });
    for (const [words, lines] of linesByWords(data.items, problem))
      printWrapped(`${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}${words}`, '  ');
    if (data.next !== null) printWrapped(`more: campaigns rows ${id} --problem ${problem}`, '  ');
  }
  print('');
  printWrapped(`the result of each row: campaigns result ${id}`);
}

/** Returns the problem in words, with its column. A message about a field of a JSON object already begins with the field. */
export const wordsOf = ({ column, message }: RowProblem): string =>
  column === null || message.startsWith(`${column} `) || message.startsWith(`${column}:`)
    ? message
    : `${column}: ${message}`;

/** Returns the numbers of the lines with a problem, grouped by the words of the problem. */
function linesByWords(rows: readonly Row[], code: string): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const { line, problems } of rows)
    for (const problem of problems.filter((each) => each.code === code)) {
      const words = wordsOf(problem);
      const text = words === problem.message ? `: ${words}` : `, ${words}`;
      found.set(text, [...(found.get(text) ?? []), line]);
    }
  return found;
}

export const rowsOf = (number: number): string => `${count(number)} ${number === 1 ? 'row' : 'rows'}`;

/** Prints a text. On a terminal, breaks it between words, and indents each line after the first by two more characters. */
function printWrapped(text: string, indent = ''): void {
  const width = (process.stdout.isTTY && process.stdout.columns) || Infinity;
  let line = indent;
  for (const word of text.split(' ')) {
    if (line.trim() !== '' && line.length + word.length > width) {
      print(line.trimEnd());
      line = `${indent}  `;
    }
    line += `${word} `;
  }
  print(line.trimEnd());
}

import { NEVER_ASKED, settingsOf } from './judge.rules.js';
import type { Finding, Level } from './seen.rules.js';

const TITLES = ['interface says', 'we saw', 'what it means for you'] as const;
const WIDTHS = [26, 34, 50];
const MARKS: Readonly<Record<Level, string>> = { fits: ' ', differs: '~', fails: '!' };

/** Returns the lines of the result for a terminal: a table, then the settings and what was not asked. */
export function linesOf(findings: readonly Finding[], notAsked: readonly string[]): string[] {
  const settings = settingsOf(findings);
  return [
    `  ${'check'.padEnd(26)}  ${TITLES.map((title, i) => title.padEnd(WIDTHS[i]!)).join('  ')}`.trimEnd(),
    ...findings.flatMap(rowsOf),
    '',
    '  fits   ~ differs   ! fails',
    ...(settings.length === 0 ? [] : ['', 'Settings that follow:', ...settings.map((line) => `  ${line}`)]),
    '',
    'Not asked:',
    ...[...notAsked, ...NEVER_ASKED].map((text) => `  - ${text}`),
  ];
}

function rowsOf({ check, level, says, saw, means }: Finding): string[] {
  const cells = [[check], wrap(says, WIDTHS[0]!), wrap(saw, WIDTHS[1]!), wrap(means, WIDTHS[2]!)];
  const height = Math.max(...cells.map(({ length }) => length));
  return Array.from({ length: height }, (_, row) => {
    const [name = '', ...texts] = cells.map((lines) => lines[row] ?? '');
    const columns = texts.map((text, i) => text.padEnd(WIDTHS[i]!));
    return `${row === 0 ? MARKS[level] : ' '} ${name.padEnd(26)}  ${columns.join('  ')}`.trimEnd();
  });
}

/** Breaks a text between words. A longer word stands alone. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

interface ReportFacts {
  readonly at: Date;
  readonly version: string;
  readonly host: string;
}

/** Returns the page for the provider, as Markdown. It names no id, reference, EAN, key or token. */
export function reportOf(
  findings: readonly Finding[],
  notAsked: readonly string[],
  facts: ReportFacts,
): string {
  const cell = (text: string) => text.replaceAll('|', String.raw`\|`) || ' ';
  const row = ({ check, level, says, saw, means }: Finding) =>
    `| ${[check, level, says, saw, means].map(cell).join(' | ')} |`;
  return [
    `# ${facts.host} and its interface description`,
    '',
    `Seen on ${facts.at.toISOString()} by PV Onboarding ${facts.version}.`,
    '',
    '| check | level | the interface says | we saw | what it means for us |',
    '| --- | --- | --- | --- | --- |',
    ...findings.filter(({ level }) => level !== 'fits').map(row),
    '',
    `${findings.filter(({ level }) => level === 'fits').length} further checks fit.`,
    '',
    '## Questions that stay open',
    '',
    ...[...notAsked, ...NEVER_ASKED].map((text) => `- ${text}`),
    '',
  ].join('\n');
}

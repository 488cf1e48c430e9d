import { readFile } from 'node:fs/promises';

export const ROOT = new URL('../../', import.meta.url);

export const readReadme = (): Promise<string> => readFile(new URL('README.md', ROOT), 'utf8');

/** The code block, or the cells of the table's rows, that stands under `<!-- name -->`. */
export function blockOf(readme: string, name: string): string {
  const block = new RegExp(`<!-- ${name} -->\\n+\`\`\`[a-z]+\\n(.*?)\\n\`\`\``, 's').exec(readme)?.[1];
  if (block === undefined) throw new Error(`README.md has no block under <!-- ${name} -->`);
  return block;
}

export function rowsOf(readme: string, name: string): string[][] {
  const table = new RegExp(`<!-- ${name} -->\\n+((?:\\|.*\\n)+)`).exec(readme)?.[1];
  if (table === undefined) throw new Error(`README.md has no table under <!-- ${name} -->`);
  const rows = table.trim().split('\n').slice(2);
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** What differs from run to run, made the same. */
export const masked = (text: string): string =>
  text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replace(/\/pv-onboarding\/[\w-]+/g, '/pv-onboarding/<link>')
    .replace(/127\.0\.0\.1:\d+/g, '<address>')
    .replace(/\b\d{18}\b/g, '<ean>')
    .replace(/^ *\d+\.\d s/gm, '<seconds>')
    .replace(/( event +|^)\d+ (?=pv\.)/gm, '$1<sequence> ')
    .trim();

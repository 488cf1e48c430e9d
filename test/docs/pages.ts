import { readdir, readFile } from 'node:fs/promises';

export const ROOT = new URL('../../', import.meta.url);

/** Returns the text of a page by its path in the repository, such as `docs/api.md`. */
export const readPage = (path: string): Promise<string> => readFile(new URL(path, ROOT), 'utf8');

/** Returns the anchors of the headings, as GitHub builds them. */
export const anchorsOf = (markdown: string) =>
  [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );

/** Returns the section of a page with this anchor, up to the next heading of any level. Throws if there is none. */
export function sectionOf(page: string, anchor: string): string {
  const section = page.split(/^(?=#+ )/m).find((each) => anchorsOf(each)[0] === anchor);
  if (section === undefined) throw new Error(`The page has no section #${anchor}`);
  return section;
}

/** Returns the text of the code block under `<!-- name -->`. Throws if there is none. */
export function blockOf(page: string, name: string): string {
  const block = new RegExp(`<!-- ${name} -->\\n+\`\`\`[a-z]+\\n(.*?)\\n\`\`\``, 's').exec(page)?.[1];
  if (block === undefined) throw new Error(`The page has no block under <!-- ${name} -->`);
  return block;
}

/** Returns the cells of each row of the table under `<!-- name -->`. Throws if there is none. */
export function rowsOf(page: string, name: string): string[][] {
  const table = new RegExp(`<!-- ${name} -->\\n+((?:\\|.*\\n)+)`).exec(page)?.[1];
  if (table === undefined) throw new Error(`The page has no table under <!-- ${name} -->`);
  const rows = table.trim().split('\n').slice(2);
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** Replaces everything that differs between runs by a placeholder. */
export const masked = (text: string): string =>
  text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replace(/\/pv-onboarding\/[\w-]+/g, '/pv-onboarding/<link>')
    .replace(/127\.0\.0\.1:\d+/g, '<address>')
    .replace(/\b\d{18}\b/g, '<ean>')
    .replace(/^ *\d+\.\d s/gm, '<seconds>')
    .replace(/( event +|^)\d+ (?=pv\.)/gm, '$1<sequence> ')
    .trim();

/** Returns the text of every page, by its path. */
export async function readPages(): Promise<ReadonlyMap<string, string>> {
  const docs = (await readdir(new URL('docs', ROOT), { recursive: true })).filter((name) =>
    name.endsWith('.md'),
  );
  const top = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];
  const besideCode = [
    'clients/typescript',
    'src/remote',
    'src/onboarding',
    'src/handlers',
    'sandbox',
    'bench',
    'examples/nestjs',
  ].map((path) => `${path}/README.md`);
  const paths = [...top, ...besideCode, ...docs.map((name) => `docs/${name}`)];
  return new Map(await Promise.all(paths.map(async (path) => [path, await readPage(path)] as const)));
}

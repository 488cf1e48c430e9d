import { copyFile, mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, posix } from 'node:path';
import { ROOT } from '../root.mjs';
import { linkTable, renderPage, sectionsOf } from './render.mjs';

/**
 * Writes `dist/docs`: each page of the documents as HTML, the sections for the search, and the reference of the API. With `--check`, writes
 * nothing and fails if a link leads nowhere; the image is built without the files that only developers read.
 */
const OUT = join(ROOT, 'dist', 'docs');
const { resolve } = createRequire(import.meta.url);

/** The pages outside `docs`, and the one whose name the reference of the API has. */
const SLUGS = {
  'README.md': '',
  'CONTRIBUTING.md': 'contributing',
  'CHANGELOG.md': 'changelog',
  'SECURITY.md': 'security-policy',
  'clients/typescript/README.md': 'typescript-client',
  'docs/api.md': 'rest-api',
  'src/remote/README.md': 'remote',
  'src/onboarding/README.md': 'reading-sessions',
  'src/handlers/README.md': 'handlers',
  'sandbox/README.md': 'sandbox',
  'bench/README.md': 'performance',
  'examples/nestjs/README.md': 'app-in-nestjs',
};
const FILES = {
  'scalar.js': resolve('@scalar/fastify-api-reference').replace(/index\.js$/, 'js/standalone.js'),
  'minisearch.js': resolve('minisearch').replace(/cjs[\\/]index\.cjs$/, 'umd/index.js'),
};

const read = (path) => readFile(join(ROOT, path), 'utf8');
const names = await readdir(join(ROOT, 'docs'), { recursive: true });
const paths = [
  ...Object.keys(SLUGS),
  ...names.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
];
const texts = new Map();
for (const path of new Set(paths)) texts.set(path, await read(path));
const slugOf = (path) => SLUGS[path] ?? posix.basename(path, '.md');
const sections = new Map([...texts].map(([path, text]) => [path, sectionsOf(text)]));

const broken = [];
/** Returns the address of a link relative to `/docs/`, or null if the service does not serve its target. */
const addressOf = async (from, link) => {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? from : posix.join(posix.dirname(from), path);
  const isAnchor = anchor === undefined || sections.get(target)?.some(({ id }) => id === anchor);
  if (!isAnchor || !(await stat(join(ROOT, target)).catch(() => null))) broken.push(`${from}: ${link}`);
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (texts.has(target)) return target === 'README.md' ? `../docs${hash}` : slugOf(target) + hash;
  if (/^(openapi|asyncapi)\.json$/.test(target)) return `../${target}`;
  return target.startsWith('docs/images/') ? target.slice('docs/'.length) : null;
};

// The menu is the table of documents in README.md, as far as they are served.
const menu = await Promise.all(
  linkTable(texts.get('README.md'), 'Documentation').map(async ({ title, links }) => {
    const targets = links.map(async ({ text, href }) => ({
      text,
      address: await addressOf('README.md', href),
    }));
    return { title, links: (await Promise.all(targets)).filter(({ address }) => address !== null) };
  }),
);

/** @type {Map<string, string>} The pages by the names of their files. */
const pages = new Map();
for (const [path, text] of texts) {
  for (const [, link] of text.matchAll(/<(?:img|a) [^>]*(?:src|href)="(?![a-z]+:)([^"]+)"/g))
    await addressOf(path, link);
  const html = await renderPage({
    text,
    menu,
    slug: slugOf(path),
    addressOf: (link) => addressOf(path, link),
  });
  pages.set(`${slugOf(path) || 'index'}.html`, html);
}

if (!process.argv.includes('--check')) await write();
else if (broken.length > 0) {
  console.log(`These links lead nowhere:\n${broken.join('\n')}`);
  process.exitCode = 1;
}

async function write() {
  await rm(OUT, { recursive: true, force: true });
  await mkdir(join(OUT, 'images'), { recursive: true });
  for (const [name, html] of pages) await writeFile(join(OUT, name), html);
  const found = [...sections].flatMap(([path, parts]) =>
    parts.map(({ id, title, page, text }, index) => ({
      id: `${path === 'README.md' ? '../docs' : slugOf(path)}${index === 0 ? '' : `#${id}`}`,
      title,
      page,
      text,
    })),
  );
  await writeFile(join(OUT, 'search.json'), JSON.stringify(found));
  for (const [name, file] of Object.entries(FILES)) await copyFile(file, join(OUT, name));
  for (const name of await readdir(join(ROOT, 'pages/docs')))
    await copyFile(join(ROOT, 'pages/docs', name), join(OUT, name));
  for (const name of await readdir(join(ROOT, 'docs/images')))
    await copyFile(join(ROOT, 'docs/images', name), join(OUT, 'images', name));
}

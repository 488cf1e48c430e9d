import { Marked } from 'marked';

const escape = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const unescape = (text) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** Returns the anchor of a heading, as GitHub builds it. */
export const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

/** Returns the text of a token that a person reads. */
const textOf = (token) => {
  if (token.type === 'html' || token.type === 'space') return '';
  if (token.type === 'table') return [token.header, ...token.rows].flat().map(textOf).join(' ');
  const inner = token.tokens ?? token.items;
  return inner === undefined
    ? unescape(token.text ?? '')
    : inner.map(textOf).join(token.type === 'list' ? ' ' : '');
};

/**
 * Returns the sections of a page, of headings of any level.
 * @returns {{ id: string, depth: number, title: string, page: string, text: string }[]}
 */
export function sectionsOf(text) {
  /** @type {{ depth: number, heading: string, title: string, texts: string[] }[]} */
  const sections = [];
  for (const token of new Marked().lexer(text)) {
    if (token.type === 'heading')
      sections.push({ depth: token.depth, heading: token.text, title: textOf(token), texts: [] });
    else sections.at(-1)?.texts.push(textOf(token));
  }
  return sections.map(({ depth, heading, title, texts }) => ({
    id: anchorOf(heading),
    depth,
    title,
    page: sections[0].title,
    text: texts.join(' ').replace(/\s+/g, ' ').trim(),
  }));
}

/** Returns the groups of links in the table under this heading: a title and its links in each row. */
export function linkTable(text, heading) {
  const tokens = new Marked().lexer(text);
  const start = tokens.findIndex((token) => token.type === 'heading' && token.text === heading);
  const table = /** @type {import('marked').Tokens.Table} */ (
    tokens.slice(start).find(({ type }) => type === 'table')
  );
  return table.rows.map(([title, cell]) => ({
    title: title.text,
    links: /** @type {import('marked').Tokens.Link[]} */ (cell.tokens.filter(({ type }) => type === 'link')),
  }));
}

/** Returns the HTML of a page. `addressOf` returns the address of a link relative to `/docs/`, or null if its target is not served. */
export async function renderPage({ text, menu, slug, addressOf }) {
  // The first page is served at `/docs`, so its links have one folder more.
  const at = (address) =>
    slug !== '' ? address : address.startsWith('../') ? address.slice(3) : `docs/${address}`;
  const marked = new Marked({
    gfm: true,
    async: true,
    walkTokens: async (token) => {
      if ((token.type !== 'link' && token.type !== 'image') || /^[a-z]+:/.test(token.href)) return;
      const address = await addressOf(token.href);
      if (!token.href.startsWith('#')) token.href = address && at(address);
    },
    renderer: {
      heading({ tokens, depth, text: heading }) {
        const id = anchorOf(heading);
        const link = `<a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`;
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${depth > 1 ? link : ''}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        return href ? `<a href="${escape(href)}">${inner}</a>` : `<span class="file">${inner}</span>`;
      },
      table(token) {
        const row = (cells, tag) =>
          `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
        const rows = token.rows.map((cells) => row(cells, 'td')).join('\n');
        return `<div class="wide" tabindex="0"><table><thead>${row(token.header, 'th')}</thead><tbody>${rows}</tbody></table></div>\n`;
      },
      code: ({ text: code, lang = '' }) =>
        `<pre tabindex="0"><code class="${escape(lang)}">${escape(code)}</code></pre>\n`,
    },
  });
  const body = (await marked.parse(text.replace(/<!--.*?-->/gs, ''))).replace(
    /<img src="docs\//g,
    `<img src="${at('')}`,
  );
  const sections = sectionsOf(text);
  const title = sections[0]?.title ?? 'PV Onboarding';
  const contents = sections.filter(({ depth }) => depth === 2);
  const groups = menu.map(({ title: group, links }) => {
    const items = links.map(({ text: name, address }) => {
      const isHere = slug !== '' && address === slug;
      return `<li><a href="${escape(at(address))}"${isHere ? ' aria-current="page"' : ''}>${escape(name)}</a></li>`;
    });
    return `<h2>${escape(group)}</h2>\n<ul>${items.join('\n')}</ul>`;
  });
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${escape(unescape(title))}${slug === '' ? '' : ' – PV Onboarding'}</title>
    <link rel="icon" href="${at('icon.svg')}" />
    <link rel="stylesheet" href="${at('guides.css')}" />
    <script src="${at('minisearch.js')}" defer></script>
    <script src="${at('guides.js')}" defer></script>
  </head>
  <body data-base="${at('') || './'}">
    <a class="skip" href="#content">Skip to the text</a>
    <header>
      <a class="home" href="${at('../docs')}">PV Onboarding</a>
      <a href="${at('api')}">API reference</a>
      <search><input type="search" id="search" placeholder="Search the guides ( / )" aria-label="Search the guides" autocomplete="off" /><ol id="hits" hidden></ol></search>
    </header>
    <div class="page">
      <nav aria-label="Guides"><details><summary>All guides</summary>${groups.join('\n')}</details></nav>
      <main id="content">${body}</main>
      ${contents.length > 1 ? `<aside aria-label="On this page"><ul>${contents.map(({ id, title: name }) => `<li><a href="#${id}">${escape(name)}</a></li>`).join('\n')}</ul></aside>` : ''}
    </div>
  </body>
</html>
`;
}

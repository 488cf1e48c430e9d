// The search of the guides, and the menu, which is open on a wide screen. Without scripts, the page has all but the search.
const MOST = 12;
const menu = document.querySelector('nav details');
const wide = matchMedia('(min-width: 60rem)');
const fit = () => menu.toggleAttribute('open', wide.matches);
wide.addEventListener('change', fit);
fit();

const base = document.body.dataset.base;
const input = document.querySelector('#search');
const hits = document.querySelector('#hits');
let index;

/** Loads the sections at the first use. */
async function load() {
  const response = await fetch(`${base}search.json`);
  const search = new MiniSearch({
    fields: ['title', 'page', 'text'],
    storeFields: ['title', 'page', 'text'],
    // Splits names such as PUBLIC_URL as well, but also finds them whole.
    tokenize: (text) =>
      text
        .split(/[^\p{L}\p{N}_]+/u)
        .flatMap((word) => (word.includes('_') ? [word, ...word.split('_')] : [word])),
    searchOptions: { boost: { title: 4, page: 2 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
  });
  search.addAll(await response.json());
  return search;
}

/** Returns the text around the first word that was found. */
function around(text, terms) {
  const lower = text.toLowerCase();
  const found = terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0);
  const from = Math.max(0, Math.min(...found, text.length) - 40);
  return `${from > 0 ? '…' : ''}${text.slice(found.length > 0 ? from : 0, from + 120)}…`;
}

function show(results, text) {
  const items = results.slice(0, MOST).map(({ id, title, page, text: body, terms }) => {
    const item = document.createElement('li');
    const link = document.createElement('a');
    link.href = base === './' ? id : id.startsWith('../') ? id.slice('../'.length) : base + id;
    const name = document.createElement('strong');
    name.textContent = title === page ? title : `${page} › ${title}`;
    const excerpt = document.createElement('span');
    excerpt.textContent = around(body, terms);
    link.append(name, excerpt);
    item.append(link);
    return item;
  });
  if (items.length === 0) {
    const nothing = document.createElement('li');
    nothing.textContent = `No section has all of “${text}”.`;
    items.push(nothing);
  }
  hits.replaceChildren(...items);
  hits.hidden = false;
}

async function search() {
  const text = input.value.trim();
  if (text === '') return void (hits.hidden = true);
  index ??= load();
  const found = (await index).search(text);
  if (input.value.trim() === text) show(found, text);
}

input.addEventListener('input', () => void search());
input.addEventListener('focus', () => void (index ??= load()), { once: true });
addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
  }
  if (event.key === 'Escape') hits.hidden = true;
  if (event.key === 'Enter' && document.activeElement === input) hits.querySelector('a')?.click();
});
addEventListener('click', ({ target }) => {
  if (!target.closest('search') || target.closest('a')) hits.hidden = true;
});

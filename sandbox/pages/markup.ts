/** Text that is safe to insert into a page unescaped. */
export class Html {
  constructor(readonly text: string) {}
}

/** Builds HTML from a template; escapes every value that is not Html. */
export const markup = (
  strings: TemplateStringsArray,
  ...values: readonly (string | number | Html | readonly Html[])[]
): Html =>
  new Html(strings.reduce((text, part, position) => text + render(values[position - 1] ?? '') + part));

const render = (value: string | number | Html | readonly Html[]): string => {
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('');
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
};

export const page = (title: string, content: Html, lang = 'en'): Html =>
  markup`<!doctype html>
    <html lang="${lang}">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="referrer" content="same-origin">
        <title>${title}</title>
        <style>
          ${STYLE}
        </style>
      </head>
      <body>
        ${content}
      </body>
    </html> `;

/** The sun, as browsers request it at /favicon.ico for every page. */
export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M16 1v30M1 16h30M5 5l22 22M27 5 5 27" stroke="#14603a" stroke-width="3"/><circle cx="16" cy="16" r="8" fill="#e0a100"/></svg>';

const STYLE = new Html(`
:root { color-scheme: light dark; --ink: light-dark(#16211c, #e8efe9); --soft: light-dark(#55635b, #a3b1a8);
  --line: light-dark(#d3dbd5, #3a463f); --ground: light-dark(#f5f7f4, #121714); --paper: light-dark(#fff, #1b221e);
  --action: light-dark(#14603a, #7fd6a4); --on-action: light-dark(#fff, #10201a); --wrong: light-dark(#9b1c1c, #ff9f97); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 34rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
main.wide { max-width: 76rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0.5rem 0 1rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; }
.steps, .note { color: var(--soft); font-size: 0.9rem; }
.card { background: var(--paper); border: 1px solid var(--line); border-radius: 0.75rem; padding: 1.25rem; }
fieldset { border: 0; margin: 0; padding: 0; }
fieldset + fieldset { margin-top: 1.25rem; }
legend { font-weight: 600; padding: 0; margin-bottom: 0.5rem; }
.choice { display: flex; gap: 0.75rem; align-items: center; padding: 0.75rem; margin-bottom: 0.5rem; min-height: 3rem;
  border: 1px solid var(--line); border-radius: 0.5rem; cursor: pointer; }
.choice input { width: 1.2rem; height: 1.2rem; flex: none; accent-color: var(--action); }
.field { display: block; margin-bottom: 1rem; font-weight: 600; }
.field input { display: block; width: 100%; margin-top: 0.25rem; padding: 0.7rem; font: inherit; color: inherit;
  background: var(--ground); border: 1px solid var(--soft); border-radius: 0.5rem; }
button { font: inherit; font-weight: 600; color: var(--on-action); background: var(--action); border: 1px solid var(--action);
  border-radius: 0.5rem; padding: 0.7rem 1.2rem; min-height: 2.75rem; cursor: pointer; }
.card button { width: 100%; margin-top: 0.75rem; }
button.small { min-height: 0; padding: 0.2rem 0.6rem; font-size: 0.85rem; margin: 0.1rem; color: var(--ink);
  background: transparent; border-color: var(--soft); }
.card button.small { min-height: 2.75rem; margin: 0.75rem 0 0; }
:focus-visible { outline: 3px solid var(--action); outline-offset: 2px; }
.wrong { color: var(--wrong); font-weight: 600; }
a { color: var(--action); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; background: var(--paper); }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.6rem; border-bottom: 1px solid var(--line); }
td form { display: inline; }
.row { display: flex; flex-wrap: wrap; gap: 0.25rem; align-items: center; margin-bottom: 0.75rem; }
.row input, .row select { font: inherit; color: inherit; padding: 0.2rem 0.5rem; background: var(--paper); border: 1px solid var(--soft);
  border-radius: 0.5rem; }
.row input { width: 22rem; max-width: 100%; }
time { white-space: nowrap; }
code { font-size: 0.85em; overflow-wrap: anywhere; }
`);

import type { Customer } from './customers.store.js';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character]!);

const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1>${body}</html>`;

const form = (button: string, reference = '', ean = ''): string =>
  `<form method="post" action="/customers">
     <label>Reference <input name="reference" required value="${escape(reference)}"></label>
     <label>EAN <input name="ean" required pattern="[0-9]{18}" title="18 digits" value="${escape(ean)}"></label>
     <button>${button}</button>
   </form>`;

export const listPage = (customers: readonly Customer[]): string => {
  const items = customers.map(
    ({ reference, events }) =>
      `<li><a href="/customers/${encodeURIComponent(reference)}">${escape(reference)}</a> ${events[0] ?? ''}</li>`,
  );
  return page('Customers', `${form('Register and start')}<ul>${items.join('')}</ul>`);
};

export const customerPage = ({ reference, ean, events }: Customer, link: string | null): string => {
  const connect =
    link === null ? form('Go on', reference, ean) : `<a href="${escape(link)}">Connect the installation</a>`;
  return page(escape(reference), `${connect}<ul>${events.map((type) => `<li>${type}</li>`).join('')}</ul>`);
};

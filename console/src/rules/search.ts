/** The term that a person typed into the search. */
export type Term =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'ean'; readonly ean: string }
  | { readonly kind: 'reference'; readonly tenantReference: string }
  | { readonly kind: 'nothing' };

/** Recognises ids, EANs and references by their form alone. An EAN may contain spaces, as on a bill. */
export function readTerm(text: string): Term {
  const term = text.trim();
  if (term === '') return { kind: 'nothing' };
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(term))
    return { kind: 'id', id: term.toLowerCase() };
  const digits = term.replace(/[\s.-]/g, '');
  if (/^[1-9]\d{17}$/.test(digits)) return { kind: 'ean', ean: digits };
  return { kind: 'reference', tenantReference: term };
}

/** The term that a person typed into the search. */
export type Term =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'ean'; readonly ean: string }
  | { readonly kind: 'reference'; readonly tenantReference: string }
  | { readonly kind: 'nothing' };

/** Invisible characters that are copied with a text, such as direction marks and soft hyphens. */
const INVISIBLE = /[\p{Cc}\p{Cf}\u{115f}\u{1160}\u{3164}\u{ffa0}\u{fe00}-\u{fe0f}]/gu;
/** What spreadsheets and mails put around a value: `="…"`, `'…` and quotes of any language. */
const AROUND = new Set('=\'"`´‘’‚‛“”„‟«»‹› \u{2800}');

/**
 * Recognises ids, EANs and references by their form alone. The term may come from a spreadsheet, a PDF or a mail: ignores invisible
 * characters and quotes around it. An EAN may contain blanks, as on a bill.
 */
export function readTerm(text: string): Term {
  const term = bare(text.replace(INVISIBLE, '').replace(/\s/gu, ' ')).normalize('NFC');
  if (term === '') return { kind: 'nothing' };
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(term))
    return { kind: 'id', id: term.toLowerCase() };
  const digits = term.normalize('NFKC').replace(/[\s.\p{Pd}\u{2800}]/gu, '');
  if (/^[1-9]\d{17}$/.test(digits)) return { kind: 'ean', ean: digits };
  return { kind: 'reference', tenantReference: term };
}

/** Returns the text without the characters of AROUND at its two ends. */
function bare(text: string): string {
  const characters = [...text];
  const isInner = (each: string) => !AROUND.has(each);
  return characters.slice(characters.findIndex(isInner), characters.findLastIndex(isInner) + 1).join('');
}

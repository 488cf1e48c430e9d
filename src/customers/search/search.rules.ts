import { tokensIn } from '../../invitations/owner/owner-page.rules.js';
import { normaliseReference, withoutInvisible } from '../../platform/spelling.rules.js';
import { eansIn } from '../../platform/ean-digits.rules.js';

/** What a person may have meant by a text: each part that it can be. Null, or empty: it cannot be that. */
export interface Term {
  /** In the form of a reference. */
  readonly text: string;
  readonly id: string | null;
  readonly ean: string | null;
  /** The possible tokens of an invitation's link. */
  readonly tokens: readonly string[];
}

const AROUND = new Set('=\'"`´‘’‚‛“”„‟«»‹› ');
const ID = /(?<![\da-f-])[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?![\da-f-])/i;
/** Matches the path before the token of a link, which another link may contain in escapes. */
const BEFORE_TOKEN = /(?:\/|%(?:25)*2F)i(?:\/|%(?:25)*2F)/i;

/** Reads a search term, which may come from a spreadsheet, a PDF or a mail, with anything around an id, an EAN or a link. */
export function readTerm(given: string): Term {
  const seen = withoutInvisible(given.replace(/[\s\p{Cc}]/gu, ' '));
  const text = normaliseReference(bare(seen));
  const [ean = null] = eansIn(seen.normalize('NFKC'));
  const id = ID.exec(seen)?.[0].toLowerCase() ?? null;
  // Otherwise, long words before the link would be taken for its token.
  const link = seen.slice(Math.max(0, seen.search(BEFORE_TOKEN)));
  return { text, id, ean, tokens: id === null && ean === null ? tokensIn(link) : [] };
}

function bare(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && AROUND.has(text[start]!)) start += 1;
  while (start < end && AROUND.has(text[end - 1]!)) end -= 1;
  return text.slice(start, end);
}

/** Returns the pattern of LIKE for texts that begin with this one. */
export const prefixPattern = (text: string): string => `${text.replace(/[\\%_]/g, '\\$&')}%`;

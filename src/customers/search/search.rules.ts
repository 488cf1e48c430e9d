import { tokensIn } from '../../invitations/owner/owner-page.rules.js';
import { normaliseReference, withoutInvisible } from '../../platform/spelling.rules.js';

/** What a person may have meant by a text: each part that it can be. Null, or empty: it cannot be that. */
export interface Term {
  /** In the form of a reference. */
  readonly text: string;
  /** The words to look for in metadata; at least one. The last may be several. */
  readonly words: readonly string[];
  readonly id: string | null;
  readonly ean: string | null;
  /** The possible tokens of an invitation's link. */
  readonly tokens: readonly string[];
}

const AROUND = new Set('=\'"`´‘’‚‛“”„‟«»‹› ');
const ID = /(?<![\da-f-])[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?![\da-f-])/i;
/** 18 digits, in groups as on a bill. */
const EAN = /(?<!\d)[1-9](?:[\s.\p{Pd}]?\d){17}(?!\d)/u;

/** Reads a search term, which may come from a spreadsheet, a PDF or a mail, with anything around an id, an EAN or a link. */
export function readTerm(given: string): Term {
  const seen = withoutInvisible(given.replace(/[\s\p{Cc}]/gu, ' '));
  const text = normaliseReference(bare(seen));
  const ean = EAN.exec(seen.normalize('NFKC'))?.[0].replace(/\D/g, '') ?? null;
  const id = ID.exec(seen)?.[0].toLowerCase() ?? null;
  return { text, words: wordsOf(text), id, ean, tokens: id === null && ean === null ? tokensIn(seen) : [] };
}

const MOST_WORDS = 8;

/** Returns the words of a text that have a letter or a digit, or else the text. */
function wordsOf(text: string): string[] {
  const words = text.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word));
  const rest = words.slice(MOST_WORDS - 1).join(' ');
  return words.length < MOST_WORDS
    ? words.length === 0
      ? [text]
      : words
    : [...words.slice(0, MOST_WORDS - 1), rest];
}

function bare(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && AROUND.has(text[start]!)) start += 1;
  while (start < end && AROUND.has(text[end - 1]!)) end -= 1;
  return text.slice(start, end);
}

/** Returns the pattern of LIKE for texts that begin with this one. */
export const prefixPattern = (text: string): string => `${text.replace(/[\\%_]/g, '\\$&')}%`;

import { UPPER_HALF, type SingleByte } from './encoding.rules.js';

/** Returns a text that was decoded as Windows-1252 as it is in another encoding. */
const reread = (text: string, encoding: SingleByte): string =>
  [...text]
    .map((character) => {
      const at = UPPER_HALF['windows-1252'].indexOf(character);
      return at < 0 ? character : UPPER_HALF[encoding][at]!;
    })
    .join('');

/**
 * Match a character, in a text decoded as Windows-1252, at a place where no word has it: its byte is a letter of another encoding. Do not
 * match what words have in Windows-1252: an apostrophe, marks between two longer words, Š and Ž beside a vowel or among capitals, and œ
 * after a consonant.
 */
const MISREAD = [
  /[\x80-\x9f¤]/u,
  // Marks within, before and after a word.
  /\p{L}[€‚ƒ„†‡ˆ‰‹‘“”˜›Ÿ]\p{L}/u,
  /\p{L}(?<!\p{L}\p{Ll}{2})[…•™]\p{L}|\p{L}[…•™](?!\p{L}{3})\p{L}/u,
  /\p{L}(?<!\p{L}\p{Ll}{2})[–—]\p{Ll}|\p{L}[–—](?!\p{L}{3})\p{Ll}/u,
  /[^aeiou\P{L}](?<=\p{L}{3})(?<!qu|rd|ll|nt)’(?!(?:[sntdm]|an|en|ers?|re|ve|ll)(?!\p{L}))\p{Ll}/u,
  /\p{L}[¡¢£¥¦§¨©«¬®¯±²³µ¶¸¹»¼½¾¿×÷]{1,3}\p{L}/u,
  /\p{L}[‚ƒ„ˆ‰‹˜§¶](?!\p{L})|\p{Ll}[¦¿](?!\p{L})/u,
  /\p{Ll}(?<!‚[^‚‘]{0,60})‘(?!\p{L})|\p{Ll}(?<!¨[^¨]{0,60})¨(?!\p{L})/u,
  /(?<!\p{L})[ƒˆ‰™›˜]\p{L}|(?<![\p{L}\d])[£¥¦©®¯¼¾†]\p{Ll}|(?<!\p{L})€(?!uro)\p{Ll}|\d(?:ø[CF]|¡)/u,
  /(?<!\p{L})Û[ \xa0]?\d|\d[ \xa0]?Û(?!\p{L})|\p{Ll}{3}ª(?!\p{L})/u,
  // A consonant for a vowel, and the other way round.
  /[^aeiouyAEIOUYÀ-ÿ\P{L}]š[^aeiouyà-ÿ\P{Ll}]|\p{Lu}š\p{Lu}|(?<!\p{L})š[bdfghn]/u,
  /[^aeiouyà-ÿ\P{L}]ž[^aeiouyà-ÿ\P{L}]|ožt|\p{Ll}[ŠŒŽŸ]|\p{L}[ŠŒ]\p{Ll}|\p{L}Ž\p{Ll}|[^AEIOUYÀ-Þ\P{Lu}]Ž[^AEIOUYÀ-Þ\P{Lu}]/u,
  /[aeiou]œ\p{L}|\p{L}œs(?!\p{L})/u,
  /(?:[ao]|[aei]u|ei|ie)á\p{Ll}|(?:au|eu|ei)á(?!\p{L})/u,
  /[èÈ][aeiouy]|iæ(?!\p{L})|[ao]ø\p{L}|ø[áéíý]|oðl|[aeiouyöü]þ/u,
  // A capital within a word, or a mark of a Macintosh.
  /\p{Ll}[À-ÖØ-Þ]\p{Ll}|\p{Ll}[ÉÓÕØ](?!\p{L})|\p{L}Õ\p{Lu}\p{Ll}|[\p{Ll}\d]Ð[\p{L}\d]|(?<!\p{L})Õ(?:[st](?!\p{L})|\d)|\dÕ/u,
  /(?<!\p{L})[ÒÔ]\p{Lu}\p{Ll}/u,
  /[À-ÖØ-öø-ÿ]{4}/u,
];
const LONGEST_WORD = 30;

/**
 * Returns an explanation of a word in a text of Windows-1252 that is probably of another encoding, with the remedy. Returns undefined if there
 * is none.
 */
export function misreadFault(text: string, remedy: string): string | undefined {
  const found = firstMatch(text);
  if (found === undefined) return undefined;
  const word = wordAt(text, found.index, found.index + found[0].length);
  const shown = word.replace(/[\x80-\x9f]/g, '\ufffd');
  return `as windows-1252, a word of the file is "${shown}"; as cp850 it is "${reread(word, 'cp850')}", as macintosh "${reread(word, 'macintosh')}". ${remedy}`;
}

/** Matches a character of UTF-8 as an earlier program has read it in Windows-1252. */
const READ_TWICE = /â‚¬|(?:[ÂÃ]|â€)[\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]/u;

/** Returns an explanation of a word of UTF-8 that an earlier program has read in Windows-1252, with the remedy. Returns undefined if there is none. */
export function readTwiceFault(text: string, remedy: string): string | undefined {
  const found = READ_TWICE.exec(text);
  if (found === null) return undefined;
  const word = wordAt(text, found.index, found.index + found[0].length);
  const bytes = [...word].map((each) => {
    const at = UPPER_HALF['windows-1252'].indexOf(each);
    return at < 0 ? each.charCodeAt(0) : at + 0x80;
  });
  const meant = new TextDecoder().decode(Uint8Array.from(bytes));
  return `a word of the file is "${word}", probably "${meant}", which an earlier program has read in a wrong encoding. ${remedy}`;
}

function firstMatch(text: string): RegExpExecArray | undefined {
  for (const pattern of MISREAD) {
    const found = pattern.exec(text);
    if (found !== null) return found;
  }
  return undefined;
}

/** Returns the word with these characters, at most LONGEST_WORD characters on each side of them. */
function wordAt(text: string, start: number, end: number): string {
  const before = text
    .slice(Math.max(0, start - LONGEST_WORD), start)
    .split(/[\s,;"]/)
    .at(-1)!;
  const after = text.slice(end, end + LONGEST_WORD).split(/[\s,;"]/)[0]!;
  return before + text.slice(start, end) + after;
}

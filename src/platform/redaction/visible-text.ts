/** Matches control and format characters (C0, C1, bidirectional marks), line and paragraph separators, and lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Returns one line in which each unprintable character, including the line feed, is written as \uXXXX. JSON stays equivalent. */
export const visibleText = (text: string): string => text.replace(UNPRINTABLE, escapeOf);

/** Like visibleText, but line feeds are kept; each further line starts with `indent`. */
export const visibleLines = (text: string, indent = ''): string =>
  text.split('\n').map(visibleText).join(`\n${indent}`);

/** Escapes each UTF-16 code unit of a character. */
const escapeOf = (character: string): string =>
  character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

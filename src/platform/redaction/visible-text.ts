/** Control and format characters (C0, C1, bidirectional marks), line and paragraph separators, lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * Returns one line that a terminal obeys in nothing: each unprintable character is written as \uXXXX, so that JSON text stays the same
 * JSON. Line feeds are written so as well.
 */
export const visibleText = (text: string): string => text.replace(UNPRINTABLE, escapeOf);

/** The same, but line feeds stay; each further line begins with `indent`. */
export const visibleLines = (text: string, indent = ''): string =>
  text.split('\n').map(visibleText).join(`\n${indent}`);

function escapeOf(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    const unit = character.charCodeAt(at).toString(16).padStart(4, '0');
    return `\\u${unit}`;
  }).join('');
}

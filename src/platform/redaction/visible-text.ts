/** Control and format characters (C0, C1, bidirectional marks), line and paragraph separators, lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Returns one line in which each unprintable character, including the line feed, is written as \uXXXX. JSON stays equivalent. */
export const visibleText = (text: string): string => text.replace(UNPRINTABLE, escapeOf);

/** Like visibleText, but line feeds are kept; each further line starts with `indent`. */
export const visibleLines = (text: string, indent = ''): string =>
  text.split('\n').map(visibleText).join(`\n${indent}`);

function escapeOf(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    const unit = character.charCodeAt(at).toString(16).padStart(4, '0');
    return `\\u${unit}`;
  }).join('');
}

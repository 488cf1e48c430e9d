/** The text that a reader reads, of which a fault names the encoding. */
export interface EncodedText {
  readonly encoding: string;
}

/** Returns what a NUL or a replacement character in the text of a file means, for the person who made the file. */
export const characterFault = (character: string, { encoding }: EncodedText): string =>
  character === '\0'
    ? 'there is a byte 0, which no text has: export the file as CSV in UTF-8'
    : `there is a byte that is not ${encoding}, or a character that an earlier program has lost: export the file as CSV in UTF-8, in one encoding`;

/** The encodings of files. A program on DOS or in an old export writes `cp850`, one on an old Macintosh `macintosh`. */
export const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'cp850', 'macintosh'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/**
 * The number of bytes that are read before the layout of a file is detected. Its encoding is detected from as many bytes, from the first
 * byte beyond ASCII on.
 */
export const SAMPLE_BYTES = 65_536;

const BYTE_ORDER_MARKS: readonly (readonly [mark: string, encoding: Encoding])[] = [
  ['\xef\xbb\xbf', 'utf-8'],
  ['\xff\xfe', 'utf-16le'],
  ['\xfe\xff', 'utf-16be'],
];

/** Matches the bytes of a UTF-8 character beyond ASCII, or one byte beyond ASCII that is not part of such a character. */
export const BEYOND_ASCII =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]/g;
/** Matches the beginning of a character of UTF-8 at the end of a part. */
export const CUT_CHARACTER = /[\xc2-\xf4][\x80-\xbf]{0,2}$/;

/** Returns the encoding that the byte order mark of a file names, or undefined if it has none. */
export const markedEncoding = (beginning: string): Encoding | undefined =>
  BYTE_ORDER_MARKS.find(([mark]) => beginning.startsWith(mark))?.[1];

/**
 * Returns the encoding of a sample without a byte order mark, whose bytes are given as characters. If it has bytes beyond ASCII and none is
 * UTF-8, the encoding is Windows-1252, else UTF-8. If only some are UTF-8, the reader refuses the lines that contain the other bytes.
 */
export function detectEncoding(bytes: string): Encoding {
  const found = bytes.replace(CUT_CHARACTER, '').match(BEYOND_ASCII) ?? [];
  return found.length > 0 && found.every((each) => each.length === 1) ? 'windows-1252' : 'utf-8';
}

export type SingleByte = Extract<Encoding, 'windows-1252' | 'cp850' | 'macintosh'>;

/**
 * The characters of the bytes 0x80 to 0xff. A byte that Windows-1252 does not define stays a control character, by which it is recognised.
 */
// Node decodes windows-1252 as Latin-1 in some versions, and does not know cp850.
export const UPPER_HALF: Record<SingleByte, string> = {
  'windows-1252':
    '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ' +
    Array.from({ length: 0x60 }, (_, index) => String.fromCharCode(0xa0 + index)).join(''),
  cp850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\xad±‗¾¶§÷¸°¨·¹³²■\xa0',
  macintosh:
    'ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\xa0ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\uf8ffÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ',
};

export const isSingleByte = (encoding: Encoding): encoding is SingleByte => encoding in UPPER_HALF;

/** Decodes bytes that are given as characters. */
export const decodeBytes = (bytes: string, encoding: SingleByte): string =>
  bytes.replace(/[\x80-\xff]/g, (byte) => UPPER_HALF[encoding][byte.charCodeAt(0) - 0x80]!);

/** Decodes bytes that are given as characters as Windows-1252. A character of UTF-8 becomes U+FFFD, since the file then mixes encodings. */
export const decodeGuessed = (bytes: string): string =>
  bytes.replace(BEYOND_ASCII, (found) => (found.length > 1 ? '\ufffd' : decodeBytes(found, 'windows-1252')));

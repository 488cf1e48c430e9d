import { brotliDecompressSync, constants, inflateRawSync, unzipSync } from 'node:zlib';

/** Undo gzip and zlib, deflate without a header, and brotli. */
const DECODERS = [unzipSync, inflateRawSync, brotliDecompressSync];
const MOST_ENCODINGS = 2;

/**
 * Returns the text of a body, which something on the way may have compressed, although we accept no encoding. Does not believe
 * `content-encoding`, which such a thing may also invent or leave behind. Throws if the text is longer than `maxOutputLength`.
 */
export function textOfBody(
  bytes: Buffer,
  isExpected: (text: string) => boolean,
  maxOutputLength: number,
  encodings = MOST_ENCODINGS,
): string {
  const text = bytes.toString();
  if (isExpected(text) || encodings === 0) return text;
  // Decodes what has arrived: the caller finds out whether that is the whole.
  const limits = { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH };
  for (const decode of DECODERS) {
    try {
      const inner = textOfBody(decode(bytes, limits), isExpected, maxOutputLength, encodings - 1);
      // Only gzip and zlib begin with bytes by which others are refused.
      if (isExpected(inner) || (decode === unzipSync && inner !== '')) return inner;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw error;
    }
  }
  return text;
}

import { isAscii } from 'node:buffer';
import {
  CUT_CHARACTER,
  decodeBytes,
  decodeGuessed,
  detectEncoding,
  isSingleByte,
  markedEncoding,
  SAMPLE_BYTES,
  type Encoding,
} from '../../spreadsheet/encoding.rules.js';

/** Returns whether a cell or line has no text. A program of DOS ends a file by the character 26 (Ctrl+Z). */
export const isBlank = (text: string): boolean => text.replace('\x1a', '').trim() === '';

/** Returns an explanation of a NUL or a replacement character in the text of a file, for the person who made the file. */
export const characterFault = (character: string, { encoding }: Pick<FileText, 'encoding'>): string =>
  character === '\0'
    ? 'there is a byte 0, which no text has: export the file as CSV in UTF-8'
    : `there is a byte that is not ${encoding}, or a character that an earlier program has lost: export the file as CSV in UTF-8, in one encoding, or name the encoding that it has (encoding=)`;

/**
 * The text of a file. While all bytes are ASCII, its encoding is undecided, because all encodings without a byte order mark share ASCII.
 */
export class FileText {
  readonly bom: boolean;
  /** UTF-8 while the encoding is undecided. */
  encoding: Encoding;
  private readonly isKnown: boolean;

  /**
   * `beginning`: the first bytes, read already. `rest`: those after them. `given`: the encoding that the sender names. A byte order mark
   * takes precedence over it.
   */
  constructor(
    private readonly beginning: Buffer,
    private readonly rest: AsyncGenerator<Buffer, void>,
    private readonly given: Encoding | null = null,
  ) {
    const marked = markedEncoding(beginning.toString('latin1', 0, 3));
    this.bom = marked !== undefined;
    this.isKnown = marked !== undefined || given !== null;
    this.encoding = marked ?? given ?? 'utf-8';
  }

  /** Whether the text was taken for Windows-1252, although it may be of another encoding in which each byte is a character. */
  get isGuessed(): boolean {
    return !this.isKnown && this.encoding === 'windows-1252';
  }

  /** Whether the sender names the encoding. */
  get isNamed(): boolean {
    return this.given !== null;
  }

  /** Decodes the file part by part. A byte that is not part of a character becomes U+FFFD. */
  async *parts(): AsyncGenerator<string> {
    if (this.isKnown) {
      yield* decode(joined(this.beginning, this.rest), this.encoding);
      return;
    }
    for await (const part of joined(this.beginning, this.rest)) {
      if (isAscii(part)) {
        yield part.toString('latin1');
        continue;
      }
      const before = part.findIndex((byte) => byte > 0x7f);
      const sample = await readSample(this.rest, part, part.length - before);
      this.encoding = detectEncoding(sample.toString('latin1', before));
      const bytes = joined(sample, this.rest);
      yield* this.encoding === 'windows-1252' ? guessed(bytes) : decode(bytes, this.encoding);
      return;
    }
  }
}

/**
 * Returns `beginning` and the bytes after it, until SAMPLE_BYTES are read or the file ends. `counted`: how many bytes of `beginning` count
 * towards SAMPLE_BYTES.
 */
export async function readSample(
  bytes: AsyncGenerator<Buffer, void>,
  beginning: Buffer = Buffer.alloc(0),
  counted = 0,
): Promise<Buffer> {
  const parts: Buffer[] = [beginning];
  for (let length = counted; length < SAMPLE_BYTES;) {
    const next = await bytes.next();
    if (next.done === true) break;
    parts.push(next.value);
    length += next.value.length;
  }
  return Buffer.concat(parts);
}

async function* joined(first: Buffer, rest: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer, void> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

async function* guessed(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let cut = '';
  for await (const part of bytes) {
    const text = cut + part.toString('latin1');
    cut = CUT_CHARACTER.exec(text)?.[0] ?? '';
    yield decodeGuessed(text.slice(0, text.length - cut.length));
  }
  yield decodeGuessed(cut);
}

async function* decode(bytes: AsyncIterable<Buffer>, encoding: Encoding): AsyncGenerator<string> {
  if (isSingleByte(encoding)) {
    for await (const part of bytes)
      yield decodeBytes(part.toString('latin1'), encoding).replace(/[\x80-\x9f]/g, '\ufffd');
    return;
  }
  const decoder = new TextDecoder(encoding);
  for await (const part of bytes) yield decoder.decode(part, { stream: true });
  yield decoder.decode();
}

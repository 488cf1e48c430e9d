import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FileText } from './file-text.js';
import { SAMPLE_BYTES } from '../../spreadsheet/encoding.rules.js';
import { LineReader } from './line-reader.js';
import { MAX_ROW_CHARACTERS } from './row.rules.js';

/** Reads `bytes` in parts of these lengths. All further parts are as long as the last. */
async function read(bytes: Buffer, lengths: readonly number[]) {
  async function* parts() {
    for (let at = 0, nth = 0; at < bytes.length; nth++) {
      const length = lengths[Math.min(nth, lengths.length - 1)]!;
      yield bytes.subarray(at, at + length);
      at += length;
    }
  }
  const file = new FileText(bytes.subarray(0, 0), parts());
  let text = '';
  for await (const part of file.parts()) text += part;
  return { text, encoding: file.encoding };
}

describe('the text of a file', () => {
  const accents = fc.string({ unit: fc.constantFrom('é', 'ü', 'a', '\n'), minLength: 1, maxLength: 20 });
  const lengths = fc.array(fc.integer({ min: 1, max: SAMPLE_BYTES }), { minLength: 1, maxLength: 5 });

  it('is decoded by its first characters beyond ASCII, wherever they are and in whatever parts they arrive', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 4 * SAMPLE_BYTES }),
        accents.map((text) => `é.${text}`),
        lengths,
        fc.constantFrom('utf8' as const, 'latin1' as const),
        async (before, after, parts, encoding) => {
          const text = 'a'.repeat(before) + after;
          expect(
            await read(
              Buffer.from(text, encoding),
              parts.map((length) => length + 500),
            ),
          ).toEqual({ text, encoding: encoding === 'utf8' ? 'utf-8' : 'windows-1252' });
        },
      ),
      { numRuns: 50 },
    );
  });

  it('of Windows-1252 has no UTF-8 far behind its first accent, wherever the parts end', async () => {
    for (const length of [1, 2, 3, 1_000, SAMPLE_BYTES + 1]) {
      const windows = Buffer.from(`é${'a'.repeat(2 * SAMPLE_BYTES)}É é\n`, 'latin1');
      const bytes = Buffer.concat([windows, Buffer.from('Zoë €\n')]);
      const { text, encoding } = await read(bytes, [1, windows.length - 10, length]);
      expect([encoding, text.slice(-10)]).toEqual(['windows-1252', 'É é\nZo\ufffd \ufffd\n']);
    }
  });

  it('is decoded by more than the last byte of a long part', async () => {
    for (const encoding of ['utf8', 'latin1'] as const) {
      const text = `${'a'.repeat(SAMPLE_BYTES)}é é\n`;
      expect(await read(Buffer.from(text, encoding), [SAMPLE_BYTES + 1, 100])).toMatchObject({ text });
    }
  });

  it('of ASCII alone is UTF-8', async () => {
    expect(await read(Buffer.from('a'.repeat(SAMPLE_BYTES + 1)), [1_000])).toMatchObject({
      encoding: 'utf-8',
    });
  });
});

describe('the lines of a file', () => {
  const linesOf = (parts: readonly string[]) => {
    const reader = new LineReader({ encoding: 'utf-8' });
    return [...parts.flatMap((part) => [...reader.read(part)]), ...reader.end()];
  };
  const line = (number: number, text: string, isTooLong = false) => ({ line: number, text, isTooLong });
  const longest = 'a'.repeat(MAX_ROW_CHARACTERS);

  it.each([
    [['{"a":1}\n{"b":2}'], [line(1, '{"a":1}'), line(2, '{"b":2}')]],
    [
      ['{"a"', ':1}\n{', '"b":2}\n'],
      [line(1, '{"a":1}'), line(2, '{"b":2}')],
    ],
    [
      ['\n\n {} \n  \n', '\n[]'],
      [line(3, ' {} '), line(6, '[]')],
    ],
    [['', ''], []],
    [['[]\n\x1a'], [line(1, '[]')]],
    [
      [longest, '\n', longest],
      [line(1, longest), line(2, longest)],
    ],
    [
      [longest, 'a', 'a', '\nb\n', 'c'],
      [line(1, longest, true), line(2, 'b'), line(3, 'c')],
    ],
    [[`${longest}a\nb`], [line(1, longest, true), line(2, 'b')]],
  ])('of case %# have their numbers, in whatever parts they arrive', (parts, lines) => {
    expect(linesOf(parts)).toEqual(lines);
  });

  it.each([
    [['\0'], 'Line 1, character 1: there is a byte 0'],
    [['a\ufffd'], 'Line 1, character 2: there is a byte that is not utf-8'],
    [['a\nbc\ufffdd'], 'Line 2, character 3: there is a byte that is not utf-8'],
    [['a\nbc', 'd\0\n'], 'Line 2, character 4: there is a byte 0'],
    [['a\n', '\n', 'b\n\0'], 'Line 4, character 1: there is a byte 0'],
  ])('of case %# are refused at the first character that no text has', (parts, message) => {
    expect(() => linesOf(parts)).toThrow(message);
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FileText } from './file-text.js';
import { SAMPLE_BYTES } from './file-format.rules.js';

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
          ).toEqual({
            text,
            encoding: encoding === 'utf8' ? 'utf-8' : 'windows-1252',
          });
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

  it('of ASCII alone is UTF-8', async () => {
    expect(await read(Buffer.from('a'.repeat(SAMPLE_BYTES + 1)), [1_000])).toMatchObject({
      encoding: 'utf-8',
    });
  });
});

import { describe, expect, it } from '@jest/globals';
import { parseLossless } from '../platform/json/lossless.js';
import { metadataFault } from './metadata.rules.js';

const nested = (depth: number): unknown => JSON.parse('{"a":'.repeat(depth) + '1' + '}'.repeat(depth));

describe('metadata', () => {
  it.each([{}, { a: 1, b: [true, null, { c: 'd' }] }, nested(8)])('may be %j', (value) => {
    expect(metadataFault(value)).toBeUndefined();
  });

  it.each([
    [undefined, 'must be a JSON object'],
    [null, 'must be a JSON object'],
    [[], 'must be a JSON object'],
    ['a', 'must be a JSON object'],
    [nested(9), 'must be at most 8 levels deep'],
    [
      parseLossless('{"a":[123456789012345678901]}'),
      'must not contain a number that a double cannot hold exactly; send it as a string',
    ],
    [{ a: 1, b: nested(8) }, 'must be at most 8 levels deep'],
    [[nested(1)], 'must be a JSON object'],
    [{ a: [1, [nested(6)]] }, 'must be at most 8 levels deep'],
    ...['a\u200b', '\u202ea', '\u2800'].flatMap((key) => {
      const code = key
        .codePointAt(key.startsWith('a') ? 1 : 0)!
        .toString(16)
        .toUpperCase();
      const fault = `must not have a key that contains a character that nobody sees (U+${code}): type it again`;
      return [{ [key]: 1 }, { a: 1, [key]: 1 }, { a: [{ [key]: null }] }].map(
        (value) => [value, fault] as const,
      );
    }),
  ])('may not be %j', (value, fault) => {
    expect(metadataFault(value)).toBe(fault);
  });

  it('may have 4096 bytes as JSON', () => {
    // The quotes, the colon and the braces have 8 bytes, and `é` has 2.
    const withBytes = (bytes: number) => ({ a: `é${'x'.repeat(bytes - 10)}` });
    expect(metadataFault(withBytes(4_096))).toBeUndefined();
    expect(metadataFault(withBytes(4_097))).toBe('must have at most 4096 bytes as JSON, not 4097');
  });
});

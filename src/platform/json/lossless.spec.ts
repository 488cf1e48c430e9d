import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JsonError, LosslessNumber, jsonNumberText, parseLossless } from './lossless.js';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

describe('parseLossless', () => {
  it('agrees with JSON.parse on everything whose numbers and names are unambiguous', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.constantFrom(undefined, 2), (text, indent) => {
        const value: unknown = JSON.parse(text);
        const written = JSON.stringify(value, null, indent);
        expect(JSON.stringify(withoutLossless(parseLossless(written)))).toBe(JSON.stringify(value));
      }),
      { numRuns: 2_000 },
    );
  });

  it('refuses every text that JSON.parse refuses', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 2 }), fc.nat(), fc.string({ maxLength: 2 }), (text, at, noise) => {
        const position = at % (text.length + 1);
        const broken = text.slice(0, position) + noise + text.slice(position + 1);
        if (refuses(JSON.parse, broken)) expect(refuses(parseLossless, broken)).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  it('keeps every digit of 10,000 numbers of 18 digits', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[1-9][0-9]{17}$/), (digits) => {
        expect(jsonNumberText(parseLossless(digits))).toBe(digits);
      }),
      { numRuns: 10_000 },
    );
  });

  it.each(['15.0', '1.50e1', '0.15E2', '-150e-1', '0.0e5', '1500e+2'])('reads %s as a number', (text) =>
    expect(parseLossless(text)).toBe(Number(text)),
  );

  it.each([
    ['{"a":1,"a":2}', 'The name "a" is repeated at position 7'],
    ['{"a":1,"a":1}', 'The name "a" is repeated at position 7'],
    ['{"a":{},"\\u0061":{}}', 'The name "a" is repeated at position 8'],
    ['{"__proto__":1,"__proto__":1}', 'The name "__proto__" is repeated at position 15'],
    ['', 'Unexpected end at position 0'],
    ['{"a":', 'Unexpected end at position 5'],
    ['"abc', 'Unexpected end at position 4'],
    ['[1,]', 'A value is expected at position 3'],
    ['{"a":1,}', 'A name in double quotes is expected at position 7'],
    ["{'a':1}", 'A name in double quotes is expected at position 1'],
    ['{"a" 1}', "':' is expected at position 5"],
    ['[1 2]', "',' or ']' is expected at position 3"],
    ['01', 'Unexpected text after the value at position 1'],
    ['.5', 'A value is expected at position 0'],
    ['NaN', 'A value is expected at position 0'],
    ['"\\x"', 'Invalid escape at position 2'],
    ['"\\u12g4"', 'Four hexadecimal digits are expected at position 3'],
    ['"a\nb"', 'A control character in a string must be escaped at position 2'],
    ['\ufeff\ufeff{}', 'A value is expected at position 1'],
    ['\ufeff', 'Unexpected end at position 1'],
    [' \ufeff{}', 'A value is expected at position 1'],
  ])('says what is wrong with %s, and where', (text, message) => {
    expect(() => parseLossless(text)).toThrow(JsonError);
    expect(() => parseLossless(text)).toThrow(message);
  });

  it('ignores one byte order mark at the beginning, as Windows programs write it', () => {
    expect(parseLossless('\ufeff {"a":1}')).toEqual({ a: 1 });
  });

  it('accepts 64 levels, and refuses the 65th whatever follows it', () => {
    expect(parseLossless(nested(64))).toBeDefined();
    expect(() => parseLossless(nested(65))).toThrow('Nesting deeper than 64 at position 64');
    expect(() => parseLossless('{"a":'.repeat(200_000))).toThrow('Nesting deeper than 64');
  });

  it('lets __proto__ and constructor be ordinary properties', () => {
    const value = parseLossless('{"__proto__":{"admin":true},"constructor":1}') as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value['admin']).toBeUndefined();
  });

  it('reads every escape, also that of a slash, as PHP writes it', () => {
    const text = String.raw`"\b\f\n\r\t\"\\\/\u0041"`;
    expect(parseLossless(text)).toBe('\b\f\n\r\t"\\/A');
  });

  it('passes NUL and lone surrogates on: the store refuses them', () => {
    expect(parseLossless('"\\u0000\\ud800"')).toBe('\u0000\ud800');
  });

  it.each([
    ['digits', '1'.repeat(1_000_000)],
    ['zeros before a last digit', `1.${'0'.repeat(1_000_000)}1`],
    ['escapes', `"${'\\u0061'.repeat(170_000)}"`],
    ['white space', `${' '.repeat(1_000_000)}1`],
  ])('takes linear time for a megabyte of %s', (_, text) => {
    const before = process.cpuUsage();
    parseLossless(text);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
  });
});

function refuses(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text);
    return false;
  } catch {
    return true;
  }
}

function withoutLossless(value: unknown): unknown {
  if (value instanceof LosslessNumber) return Number(value.text);
  if (Array.isArray(value)) return value.map(withoutLossless);
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    Object.defineProperty(copy, key, { value: withoutLossless(item), enumerable: true, configurable: true });
  }
  return copy;
}

import { describe, expect, it } from '@jest/globals';
import { parseLossless } from '../platform/json/lossless.js';
import { metadataFault } from './metadata.rules.js';

const nested = (depth: number): unknown => JSON.parse('{"a":'.repeat(depth) + '1' + '}'.repeat(depth));

describe('metadata', () => {
  it.each([{}, { a: 1, b: [true, null, { c: 'd' }] }, nested(8)])('may be %j', (value) => {
    expect(metadataFault(value)).toBeUndefined();
  });

  it.each([
    [null, 'must be a JSON object'],
    [[], 'must be a JSON object'],
    ['a', 'must be a JSON object'],
    [nested(9), 'must be at most 8 levels deep'],
    [
      parseLossless('{"a":[123456789012345678901]}'),
      'must not contain a number that a double cannot hold exactly; send it as a string',
    ],
  ])('may not be %j', (value, fault) => {
    expect(metadataFault(value)).toBe(fault);
  });
});

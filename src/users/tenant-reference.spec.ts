import { describe, expect, it } from '@jest/globals';
import { tenantReferenceFault } from './tenant-reference.rules.js';

describe('a tenantReference', () => {
  it.each(['a', 'customer 4711', 'Zoë/42', '客户', '😀', 'x'.repeat(200)])('may be %j', (value) => {
    expect(tenantReferenceFault(value)).toBeUndefined();
  });

  it.each([
    [undefined, 'must be a string'],
    [null, 'must be a string'],
    [4711, 'must be a string'],
    [['a'], 'must be a string'],
    ['', 'must have 1 to 200 characters, not 0'],
    ['x'.repeat(201), 'must have 1 to 200 characters, not 201'],
    [' a', 'must not begin or end with a blank'],
    ['a ', 'must not begin or end with a blank'],
    ['\u00a0a', 'must not begin or end with a blank'],
    ['a\nb', 'must not contain control characters or line breaks'],
    ['a\0b', 'must not contain control characters or line breaks'],
    ['a\u2028b', 'must not contain control characters or line breaks'],
    ['a\u0085b', 'must not contain control characters or line breaks'],
    ['a\ud800b', 'must not contain half a surrogate pair'],
    ['\udc00', 'must not contain half a surrogate pair'],
  ])('may not be %j', (value, fault) => {
    expect(tenantReferenceFault(value)).toBe(fault);
  });
});

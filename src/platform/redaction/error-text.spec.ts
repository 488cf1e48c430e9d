import { describe, expect, it } from '@jest/globals';
import { errorText } from './error-text.js';

describe('the text of an error', () => {
  it('is its name and the first line of its message', () => {
    const error = new TypeError('x is not a function\n    at somewhere');
    expect(errorText(error)).toBe('TypeError: x is not a function');
  });

  it('is the cause, which is the last line of an error of Prisma', () => {
    const message = '\nInvalid `prisma.user.findMany()` invocation:\n\n\nConnection terminated unexpectedly';
    expect(errorText(new Error(message))).toBe('Error: Connection terminated unexpectedly');
  });

  it('is never longer than 300 characters', () => {
    expect(errorText(new Error('no '.repeat(1_000)))).toHaveLength(300);
  });

  it('contains nothing of a value that is not an Error', () => {
    expect(errorText({ authorization: 'Bearer abc' })).toBe('object: ');
  });

  it.each([
    ['a token', 'Bearer eyJhbGciOiJIUzI1NiJ9.e30.ZRrHA1JJJW8opsbCGfG_HACGpVUMN_a9IV7pAx', 'eyJ'],
    ['an address', 'GET https://owner.example/pv-onboarding/secret failed', 'secret'],
    ['an EAN', 'no location 541448860000000012', '5414'],
    ['a word of 18 characters with a digit', 'no abcdefghijklmnopq1', 'abc'],
    ['the second of two words', 'no abcdefghijklmnopq1 and bcdefghijklmnopqr2', 'bcd'],
  ])('leaves out %s', (_what, message, secret) => {
    expect(errorText(new Error(message))).not.toContain(secret);
  });

  it.each(['no abcdefghijklmnop1', 'no abcdefghijklmnopqrstuvwxyz'])('has all of %j', (message) => {
    expect(errorText(new Error(message))).toBe(`Error: ${message}`);
  });

  it('leaves ids, which are needed to find the row', () => {
    const id = '0b6d9a9e-7a25-4a55-8a9f-0c1d2e3f4a5b';
    expect(errorText(new Error(`no session ${id}`))).toBe(`Error: no session ${id}`);
  });
});

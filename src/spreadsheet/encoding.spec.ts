import { describe, expect, it } from '@jest/globals';
import { detectEncoding, markedEncoding } from './encoding.rules.js';

const bytes = (text: string, encoding: BufferEncoding = 'utf8') =>
  Buffer.from(text, encoding).toString('latin1');

describe('the encoding', () => {
  it.each([
    ['a,b', 'utf-8'],
    ['Müller 🌞 €', 'utf-8'],
  ])('of %s is %s', (text, encoding) => expect(detectEncoding(bytes(text))).toBe(encoding));

  it('is UTF-8 even if the sample ends within a character', () => {
    const whole = Buffer.from('Müller 🌞');
    for (let length = 1; length <= whole.length; length++)
      expect(detectEncoding(whole.subarray(0, length).toString('latin1'))).toBe('utf-8');
  });

  it('is Windows-1252 if no character beyond ASCII is UTF-8', () => {
    expect(detectEncoding(bytes('Müller; Noël', 'latin1'))).toBe('windows-1252');
    for (const rest of ['\xeb', ' No\xebl']) expect(detectEncoding(bytes('Müller') + rest)).toBe('utf-8');
  });

  it('is that of the byte order mark', () => {
    expect(markedEncoding('\xef\xbb\xbfa')).toBe('utf-8');
    expect(markedEncoding('\xff\xfea\0')).toBe('utf-16le');
    expect(markedEncoding('\xfe\xff\0a')).toBe('utf-16be');
    expect(markedEncoding('a')).toBeUndefined();
  });
});

import { describe, expect, it } from '@jest/globals';
import { detectEncoding, detectLayout } from './sample.rules.js';

const bytes = (text: string, encoding: BufferEncoding = 'utf8') =>
  Buffer.from(text, encoding).toString('latin1');

describe('the encoding', () => {
  it.each([
    ['a,b', 'utf-8'],
    ['Müller 🌞 €', 'utf-8'],
  ])('of %s is %s', (text, encoding) =>
    expect(detectEncoding(bytes(text))).toEqual({ encoding, bom: false }),
  );

  it('is UTF-8 even if the sample ends within a character', () => {
    const whole = Buffer.from('Müller 🌞');
    for (let length = 1; length <= whole.length; length++)
      expect(detectEncoding(whole.subarray(0, length).toString('latin1')).encoding).toBe('utf-8');
  });

  it('is Windows-1252 if no character beyond ASCII is UTF-8', () => {
    expect(detectEncoding(bytes('Müller; Noël', 'latin1')).encoding).toBe('windows-1252');
    expect(detectEncoding(`${bytes('Müller')}\xeb`).encoding).toBe('utf-8');
  });

  it('is that of the byte order mark', () => {
    expect(detectEncoding('\xef\xbb\xbfa')).toEqual({ encoding: 'utf-8', bom: true });
    expect(detectEncoding('\xff\xfea\0')).toEqual({ encoding: 'utf-16le', bom: true });
    expect(detectEncoding('\xfe\xff\0a')).toEqual({ encoding: 'utf-16be', bom: true });
  });
});

describe('the layout', () => {
  it.each([
    ['tenantReference;ean', ';'],
    ['tenantReference\tean', '\t'],
    ['ean|tenantReference|metadata.a, b, c', '|'],
    ['"tenantReference";"ean";"metadata.a,b,c"', ';'],
    ['\r\ntenantReference;ean', ';'],
    ['x;y;z,', ';'],
    ['ean', ','],
    ['', ','],
  ])('of %p has the delimiter %p', (text, delimiter) => expect(detectLayout(text).delimiter).toBe(delimiter));

  it('may be named by a first line', () => {
    expect(detectLayout('sep=|\r\na;b;c')).toEqual({ delimiter: '|', quote: '"', skipped: 7 });
  });
});

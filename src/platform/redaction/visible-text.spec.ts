import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { visibleLines, visibleText } from './visible-text.js';

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

describe('visibleText', () => {
  it.each([
    ['\u001b[31mred\u001b[0m', '\\u001b[31mred\\u001b[0m'],
    ['\u001b]0;title\u0007', '\\u001b]0;title\\u0007'],
    ['\u009b2J', '\\u009b2J'],
    ['two\r\nlines', 'two\\u000d\\u000alines'],
    ['\u0000\b\t\u007f', '\\u0000\\u0008\\u0009\\u007f'],
    ['\u202etxt.exe', '\\u202etxt.exe'],
    ['a\u2028b', 'a\\u2028b'],
    ['\ud800', '\\ud800'],
    ['\u{e0041}', '\\udb40\\udc41'],
  ])('escapes %j', (text, visible) => expect(visibleText(text)).toBe(visible));

  it('leaves printable text unchanged', () => {
    const text = 'Zoë 🌞 Łukasz (100 %) \\u001b naïve 漢字';
    expect(visibleText(text)).toBe(text);
  });

  it('leaves JSON equivalent, and nothing unprintable in any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(JSON.parse(visibleText(JSON.stringify({ text })))).toEqual({ text });
        expect(visibleText(text)).not.toMatch(UNPRINTABLE);
      }),
    );
  });
});

describe('visibleLines', () => {
  it('leaves line feeds, and indents each further line', () => {
    expect(visibleLines('a\n\u001bb\r\nc')).toBe('a\n\\u001bb\\u000d\nc');
    expect(visibleLines('a\nb', '  ')).toBe('a\n  b');
  });
});

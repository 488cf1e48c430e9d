import { describe, expect, it } from '@jest/globals';
import { decodeBytes } from './encoding.rules.js';
import { misreadFault, readTwiceFault } from './misread.rules.js';

/** Returns how a word looks if its bytes in `encoding` are read as Windows-1252. */
const asWindows = (word: string, encoding: 'cp850' | 'macintosh') => {
  const bytes = Array.from({ length: 0x80 }, (_, index) => String.fromCharCode(0x80 + index)).join('');
  const upper = decodeBytes(bytes, encoding);
  const written = [...word].map((letter) => bytes[upper.indexOf(letter)] ?? letter).join('');
  return decodeBytes(written, 'windows-1252');
};

const WORDS = [
  'Renée',
  'Müller',
  'Köln',
  'Zoë',
  'José',
  'Françoise',
  'Kälte',
  'Crêpe',
  'Père',
  'Jürgen',
  'CAFÉ',
  'GARÇON',
  'Joël',
  'Noël',
  'Daniël',
  'België',
];

describe('a word that is read as Windows-1252', () => {
  it.each(
    WORDS.flatMap((word) => (['cp850', 'macintosh'] as const).map((encoding) => [word, encoding] as const)),
  )('%s, is told if it is of %s, and shown as it would be read', (word, encoding) => {
    const fault = misreadFault(`1, ${asWindows(word, encoding)} x`, 'Say so.');
    expect(fault).toContain(`"${word}"`);
    expect(fault).toContain('Say so.');
  });

  it('is shown with at most 30 letters before and after those that show it', () => {
    const word = (letters: number) => `${'x'.repeat(letters)}é${'y'.repeat(letters)}`;
    expect(misreadFault(`${'a '.repeat(40)}${asWindows(word(40), 'cp850')}`, 'Say so.')).toContain(
      `"${word(31)}"`,
    );
  });

  it.each([
    'Müller',
    'Renée',
    'Zoë',
    '5 €',
    '€5',
    'cœur',
    'Œuvre',
    'd’Arc',
    'rue de l’Église',
    'aujourd’hui',
    'customer’s',
    '’s-Hertogenbosch',
    'O’Brien',
    'Škoda',
    'Amsterdam–Rotterdam',
    'a – b',
    '„Haus“',
    '“Huis”',
    'wacht…',
    '5 m²',
    '3 °C',
    'ÄÖÜ',
    'Groß',
    'n° 5',
    'Jan®',
    '†Jan',
    'Saša Žižka',
    'Jože',
    'ŽIŽKA',
    'CŒUR',
    'phœnix',
    'fœtus',
    'Hawai’i',
    'sms’en',
    'vroeg’re',
    'Qur’an',
    'wind–zon',
    'Zon™energie',
    'Müller•Söhne',
    '‚Löwe‘',
    '¨Huis¨',
    '5\u00a0€',
    '´t Hof',
    'Srtª',
  ])('%s, may be of it', (word) => expect(misreadFault(word, 'Say so.')).toBeUndefined());

  it.each([
    ['Cyrillic', 'Ïðèâåò'],
    ['Central Europe', 'Èapek'],
    ['Central Europe', 'Živkoviæ'],
    ['Central Europe', 'Jiøí'],
    ['Central Europe', '£ukasz'],
    ['Turkey', 'Aðaoðlu'],
    ['ISO-8859-15', 'Tomá¨'],
    ['ISO-8859-15', '¤5'],
    ['cp437', 'Groámann'],
    ['cp437', 'Strauá'],
    ['cp437', 'MšLLER'],
    ['cp437', 'N£¤ez'],
    ['a Macintosh', '¯ystein'],
    ['a Macintosh', 'Strau§'],
    ['a Macintosh', 'OÕBrien'],
    ['a Macintosh', 'zonª'],
  ])('is told if it is of %s: %s', (_, word) => {
    expect(misreadFault(word, 'Say so.')).toContain(`"${word}"`);
  });
});

it.each(['Renée', 'Müller', 'Weiß', 'à', 'Ö', '’s Gravenhage', '10 €', '« a »'])(
  'the text %s, read twice, is explained by what it probably was',
  (text) => {
    const twice = decodeBytes(Buffer.from(text).toString('latin1'), 'windows-1252');
    const word = text.split(' ').find((each) => /[^ -~]/.test(each))!;
    expect(readTwiceFault(twice, 'Again.')).toMatch(`probably "${word}`);
  },
);

it.each(['CHÂTEAU', 'SÃO JOÃO', 'IRMÃ', 'â', 'Â', 'pâté', 'Renée’s', 'â 5 €'])(
  '%s was not read twice',
  (text) => expect(readTwiceFault(text, '')).toBeUndefined(),
);

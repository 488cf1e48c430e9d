import { describe, expect, it } from '@jest/globals';
import { upcomingFault } from '../../platform/time/instant.rules.js';
import { chosenLocale, localeOf } from '../../platform/env/locale.rules.js';
import { returnUrlFault } from '../invitation.rules.js';
import { brandSectionOf } from './owner-sections.js';
import { accentsOf, contrast } from './colour.rules.js';
import { readCode } from './link-codes.rules.js';
import {
  declineReasonOf,
  folderFrom,
  inUnits,
  isFromOwnPage,
  planOwnerPage as plan,
  tokensIn,
  usualWaitOf,
  type Step,
} from './owner-page.rules.js';

const now = new Date();
const planOwnerPage = (invitation: Parameters<typeof plan>[0], steps: readonly Step[]) =>
  plan(invitation, steps, now, []);
const untouched = {
  ...{ erasedAt: null, wishDueAt: null, wishBrand: null, wishFailedAt: null },
  ...{ declineReason: null, isReplaced: false, renewalRequestedAt: null, consentWithdrawnAt: null },
};
const invited = { state: 'opened', brands: ['acme', 'sunward'], ...untouched } as const;
const of = (brand: string | null, kind: Step['kind']) => ({ brand, kind, isLate: false });
const late = (brand: string | null) => ({ ...of(brand, 'waiting'), isLate: true });

describe('the page of an invitation', () => {
  it.each([
    ['ready', 'acme', [of('acme', 'todo'), of('sunward', 'todo')]],
    ['started', 'acme', [of('acme', 'started'), of('sunward', 'todo')]],
    ['next', 'sunward', [of('acme', 'waiting'), of('sunward', 'todo')]],
    ['next', 'acme', [of('acme', 'todo'), of('sunward', 'online')]],
    ['waiting', undefined, [of('acme', 'waiting'), of('sunward', 'online')]],
    ['waiting', 'acme', [late('acme'), of('sunward', 'online')]],
    ['waiting', undefined, [of('acme', 'waiting'), { ...late('sunward'), kind: 'online' }]],
    ['online', undefined, [of('acme', 'online'), of('sunward', 'online')]],
  ] as const)('is %s, for %s', (kind, brand, steps) => {
    const { brand: button, ...page } = { brand: undefined, ...planOwnerPage(invited, steps) };
    expect([page.kind, button]).toEqual([kind, brand]);
  });

  it.each([
    ['ready', 'sunward', ['acme'], [of('acme', 'todo'), of('sunward', 'todo')]],
    ['next', 'sunward', ['acme'], [of('acme', 'started'), of('sunward', 'todo')]],
    ['ready', 'acme', ['acme', 'sunward'], [of('acme', 'todo'), of('sunward', 'todo')]],
    ['started', 'acme', ['acme'], [of('acme', 'started'), of('sunward', 'waiting')]],
    ['ready', null, ['acme'], [of(null, 'todo')]],
  ] as const)('is %s, for %s, while %s cannot be reached', (kind, brand, failingBrands, steps) => {
    expect(plan(invited, steps, now, failingBrands)).toMatchObject({ kind, brand });
  });

  it('is about the first thing that is over, and else about a wish', () => {
    const todo = [of('acme', 'todo'), of('sunward', 'todo')];
    expect(planOwnerPage({ ...invited, state: 'revoked', erasedAt: now }, todo).kind).toBe('erased');
    expect(planOwnerPage({ ...invited, state: 'revoked', wishDueAt: now }, todo).kind).toBe('revoked');
    expect(planOwnerPage({ ...invited, state: 'expired', wishDueAt: now }, todo).kind).toBe('expired');
    expect(planOwnerPage({ ...invited, state: 'online', wishDueAt: now }, todo).kind).toBe('online');
    expect(planOwnerPage({ ...invited, wishDueAt: now }, [of('acme', 'started')]).kind).toBe('wish');
    const refused = { ...invited, wishFailedAt: now };
    expect(planOwnerPage(refused, todo)).toMatchObject({ kind: 'rejected', brand: 'acme' });
  });

  it('is about what the owner has declined, until a click takes it back or the tenant invites again', () => {
    const todo = [of('acme', 'waiting'), of('sunward', 'todo')];
    const declined = { ...invited, state: 'declined', declineReason: 'not_mine' } as const;
    const page = { kind: 'declined', steps: todo, brand: 'sunward', reason: 'not_mine' };
    expect(planOwnerPage(declined, todo)).toEqual(page);
    expect(planOwnerPage(declined, [of('acme', 'waiting')])).toMatchObject({ brand: 'acme' });
    expect(planOwnerPage(declined, [of('acme', 'online')]).kind).toBe('online');
    expect(planOwnerPage({ ...declined, isReplaced: true }, todo).kind).toBe('expired');
  });

  it('is about the withdrawn consent, if the owner may give it again', () => {
    const steps = [of('acme', 'online')];
    const withdrawn = { ...invited, consentWithdrawnAt: now } as const;
    const page = { kind: 'withdrawn', steps, brand: 'acme' };
    expect(planOwnerPage({ ...withdrawn, state: 'online' }, steps)).toEqual(page);
    expect(planOwnerPage({ ...withdrawn, state: 'declined' }, steps)).toEqual(page);
    const toDo = [of('acme', 'online'), of('sunward', 'todo')];
    expect(planOwnerPage({ ...withdrawn, state: 'declined' }, toDo)).toMatchObject({ brand: 'sunward' });
    const reasoned = { ...withdrawn, state: 'declined', declineReason: 'not_mine' } as const;
    expect(planOwnerPage(reasoned, toDo).kind).toBe('declined');
    expect(planOwnerPage({ ...withdrawn, state: 'revoked' }, steps).kind).toBe('revoked');
    expect(planOwnerPage({ ...withdrawn, state: 'expired' }, steps).kind).toBe('expired');
  });

  it.each([
    [null, 'expired'],
    [0, 'renewal'],
    [24 * 3_600_000 - 1, 'renewal'],
    [24 * 3_600_000, 'expired'],
  ])('of an expired link that was asked to be renewed %s ms ago is %s', (ago, kind) => {
    const renewalRequestedAt = ago === null ? null : new Date(now.getTime() - ago);
    expect(planOwnerPage({ ...invited, state: 'expired', renewalRequestedAt }, []).kind).toBe(kind);
  });

  it.each([
    [undefined, null],
    ['', null],
    ['not_mine', 'not_mine'],
    ['toString', undefined],
    [['not_mine'], undefined],
  ])('reads the reason %j as %j', (given, reason) => expect(declineReasonOf(given)).toBe(reason));

  it('is of any brand if none is named', () => {
    const any = { ...invited, brands: [] };
    expect(planOwnerPage(any, [of(null, 'todo')])).toMatchObject({ kind: 'ready', brand: null });
    expect(planOwnerPage(any, [of(null, 'online')]).kind).toBe('online');
    expect(planOwnerPage(any, [of('sunward', 'started')])).toMatchObject({
      kind: 'started',
      brand: 'sunward',
    });
    expect(planOwnerPage(any, [late('acme')])).toMatchObject({ kind: 'waiting', brand: null });
  });
});

describe('what a page says about a brand', () => {
  const picture = { type: 'image/png', content: Buffer.alloc(0) };
  const address = 'brand-picture?brand=acme';
  it.each([
    [{}, null],
    [{ nl: { login: 'Bel ons.' } }, null],
    [{ picture }, [address, []]],
    [{ en: { login: 'Call us.' } }, [undefined, ['Call us.']]],
    [{ picture, en: { traps: 'None.', account: 'Make one.' } }, [address, ['Make one.', 'None.']]],
  ])('has the picture and the notes of the language, if there is any: %j', (words, expected) => {
    const section = brandSectionOf('acme', { name: 'Acme', ...words }, 'en', '', (key) => key);
    expect(section && [section.picture, section.notes.map(({ text }) => text)]).toEqual(expected);
  });

  it('is nothing about a brand that the tenant does not describe', () => {
    expect(brandSectionOf('acme', undefined, 'en', '', (key) => key)).toBeNull();
  });
});

describe('the usual wait', () => {
  const steps = [
    { brand: 'acme', kind: 'waiting' },
    { brand: 'sunward', kind: 'waiting' },
    { brand: 'slow', kind: 'online' },
  ] as const;
  it('is the longest of the brands that are awaited, if all are known', () => {
    expect(usualWaitOf(steps, (brand) => ({ acme: 60, sunward: 900, slow: 9_000 })[brand!])).toBe(900);
    expect(usualWaitOf(steps, (brand) => ({ acme: 60 })[brand!])).toBeUndefined();
    expect(usualWaitOf([], () => 60)).toBeUndefined();
  });
  it.each([
    [1, 5, 'minute'],
    [300, 5, 'minute'],
    [301, 10, 'minute'],
    [5_400, 90, 'minute'],
    [5_401, 2, 'hour'],
    [172_800, 48, 'hour'],
    [172_801, 3, 'day'],
  ] as const)('of %s seconds is %s %ss', (seconds, amount, unit) =>
    expect(inUnits(seconds)).toEqual({ amount, unit }),
  );
});

it.each([
  ['ABCDEFGH', 'ABCDEFGH'],
  [' abcd-efgh.', 'ABCDEFGH'],
  ['\uff21BCDEFGH', 'ABCDEFGH'],
  [`ABCDEFGH${' '.repeat(92)}`, 'ABCDEFGH'],
  [`ABCDEFGH${' '.repeat(93)}`, null],
  ['ABCDEFG', null],
  ['ABCDEFGHJ', null],
  ['ABCDEFGI', null],
  ['ABCDEFG2', null],
  [undefined, null],
  [['ABCDEFGH'], null],
])('the code in %j is %j', (given, code) => expect(readCode(given)).toBe(code));

describe('a token', () => {
  const token = 'kXd2S97lyjNa6A7SLQ0IhwLFc-JSpqmuT-ao_ajDCPs';
  const broken = (by: string) => token.slice(0, 20) + by + token.slice(20);
  it.each([token.slice(1), '../../etc/passwd', '', '='.repeat(100)])('is not in %j', (text) =>
    expect(tokensIn(text)).toEqual([]),
  );
  it.each([
    token,
    ...['b', '_', '-', '&utm_source=mail', '&amp;utm=1', '=20', '=3D', '</a>', '>', '/', '/x', '%', '…'].map(
      (after) => token + after,
    ),
    ...['.', '>)', '](https://x)', '|05|02', '&quot;', '%22', `/i/${token}`, `https://x/i/${token}`].map(
      (after) => token + after,
    ),
    ...['<', '"', ' ', '\u200b', '=20', '%20', '(<', '%22', '%3C', '&quot;', '“', 'https://x/i/', 'x/'].map(
      (before) => before + token,
    ),
    ...['\n', '=\n', '=\r\n', '=', ' ', '\u00ad', '\u200b', '\u200d', '\u2060', '\ufeff'].map(broken),
    ...['\ufe0f', '\u2800', '\u3164', '\u034f', '\u00a0', '\u2028', '\b', '\u{e0001}'].map(broken),
    ...['=20\n', '=0D=0A', '%0A', '=C2=AD', '=e2=80=8b', '=E2=80=AF', '=EF=B8=8F', '=3D=0A', '=AD'].map(
      broken,
    ),
    ...['=3DE2=3D80=3D8B', '%25E2%2580%258B', '%A0'].map(broken),
    ...['&shy;', '&nbsp;', '&#8203;', '&#x200B;', '<wbr>', '<WBR/>', '<br />\n'].map(broken),
    ...['\u2010', '\u2011', '\u2212', '=E2=80=91', '%E2%80%90', '&#8209;', '&#x2010;'].flatMap((dash) => [
      token.replaceAll('-', dash),
      broken(dash),
      token.slice(0, 9) + dash + broken(dash).slice(9),
    ]),
    // A program breaks a line with a hyphen, quotes it in a reply, emphasises the link or escapes it for Markdown.
    ...[
      '-\n',
      '-%0A',
      '-=0D=0A',
      '-',
      '\u2010\n',
      '%E2%80%90%0A',
      '\n> ',
      '%0A%3E%20',
      '> ',
      '\n>> ',
      '-\n> ',
      '+',
    ].map(broken),
    ...['*', '**', '_', '__', '- ', '`'].map((mark) => mark + token + mark),
    ...['/_', '\\_', '%5C_'].map((mark) => token.replace('_', mark)),
    ...['&ndash;', '&hyphen;'].map((mark) => token.replace('-', mark)),
    token.replace('-', '=2D').replace('_', '=5f'),
    token.replace('-', '%2D').replace('_', '%255F'),
  ])('is in %j', (text) => expect(tokensIn(text)).toContain(token));

  it.each(['-', '_', '__', '-_-', 'a-b-c-d-'])('begins with %j in its correct link', (begin) => {
    const other = begin + token.slice(begin.length);
    const links = ['', 'x/i/', 'i/', '**'].map((before) => before + other);
    for (const link of [...links, `${links[1]}/i/${other}`]) expect(tokensIn(link)).toContain(other);
  });

  // Programs that improve typography make one dash of several hyphens.
  it.each([
    ['--', '\u2013'],
    ['--', '%E2%80%94'],
    ['--', '&mdash;'],
    ['---', '\u2014'],
  ])('has %s for one dash, %s', (hyphens, dash) => {
    const other = token.replace('-', hyphens).slice(0, token.length);
    expect(tokensIn(other.replace(hyphens, dash))).toContain(other);
  });

  it('is looked up a limited number of times for a text', () =>
    expect(tokensIn('-=2D-%2D\u2010_=252D'.repeat(100)).length).toBeLessThan(20));

  // Browsers remove the line end from a pasted address, and what follows may look like an escape.
  it.each(['20', '0A', '3D', '0d', 'E2', '2D', '41'])(
    'may go on with %s after a soft line break',
    (digits) => {
      const other = token.slice(0, 20) + digits + token.slice(22);
      for (const by of ['=', '=3D', '=\n'])
        expect(tokensIn(other.slice(0, 20) + by + other.slice(20))).toContain(other);
    },
  );
});

describe('a click', () => {
  it.each([
    [true, {}],
    [true, { origin: 'null' }],
    [true, { origin: 'https://pv.example' }],
    [true, { origin: 'null', 'sec-fetch-site': 'same-origin' }],
    [false, { origin: 'https://evil.example' }],
    [false, { 'sec-fetch-site': 'cross-site' }],
    [false, { origin: 'https://pv.example', 'sec-fetch-site': 'same-site' }],
  ])('is from our page: %s, with %j', (isOwn, headers) => {
    expect(isFromOwnPage(headers, ['https://pv.example'])).toBe(isOwn);
  });
});

describe('the language', () => {
  it.each([
    ['de', 'de', 'fr'],
    [null, 'fr', 'es, fr;q=0.8, en;q=0.5'],
    [null, 'nl', 'nl-BE,nl;q=0.9'],
    [null, 'de', 'de-AT, en'],
    [null, 'en', 'es, fr;q=0'],
    [null, 'en', undefined],
    ['es', 'fr', 'fr'],
    [null, 'de', 'fr;q=0.5, de;q=0.9'],
    [null, 'de', 'DE ; q=0.2 , es'],
    [null, 'nl', `${'x'.repeat(497)},nl`],
    [null, 'en', `${'x'.repeat(498)},nl`],
    [null, 'en', 'nl;q=no'],
  ])('of an invitation in %s is %s with Accept-Language %s', (invitedIn, locale, accepted) => {
    expect(localeOf(invitedIn, accepted)).toBe(locale);
  });

  it.each([
    ['?lang=de', 'de'],
    ['?receipt=&lang=DE', 'de'],
    ['?lang=fr-BE', 'fr'],
    ['?lang=nl_NL', 'nl'],
    ['?lang=de&lang=fr', 'de'],
    ...['', '?lang', '?lang=', '?lang=es', '?lang=deutsch', '?lang=%00', '?lang=__proto__', '?lang[]=de'].map(
      (query) => [query, null] as const,
    ),
  ])('that the reader has chosen with %j is %s', (query, locale) =>
    expect(chosenLocale(`/i/TOKEN${query}`)).toBe(locale),
  );

  it('is otherwise the one that the tenant has chosen', () => expect(localeOf(null, 'es', 'de')).toBe('de'));
});

it.each([
  [0, 'must be in the future'],
  [1, undefined],
  [366 * 86_400_000, undefined],
  [366 * 86_400_000 + 1, 'must be at most 366 days from now'],
])('an invitation that expires in %i ms has the fault %s', (ms, fault) =>
  expect(upcomingFault(new Date(1e12 + ms), new Date(1e12))).toBe(fault),
);

it.each([
  ['/i/token', ''],
  ['/i/token/', '../'],
  ['/i/a/b/c', '../../'],
  [`/i/token${'/'.repeat(8)}`, '../'.repeat(8)],
  [`/i/token${'/'.repeat(9)}`, null],
  [`/i/token${'/'.repeat(90)}`, null],
  ['/i', 'i/'],
  ['http://pv.example:8080/i/token', ''],
  ['HTTPS://pv.example/i/a/b?c=/d', '../'],
])('the folder of links seen from %s is %j', (path, folder) => expect(folderFrom(path)).toBe(folder));

describe('a way home', () => {
  const fault = (url: string, isProduction = true) =>
    returnUrlFault(new URL(url), ['https://home.example'], isProduction);
  it('leads to a configured origin by https only, outside production also to the loopback', () => {
    expect(fault('https://home.example/done?id=1')).toBeUndefined();
    expect(fault('https://home.example.evil.example/')).toContain('INVITATION_RETURN_ORIGINS');
    expect(fault('https://home.example@evil.example/')).toContain('credentials');
    expect(fault('http://home.example/')).toContain('https://');
    expect(fault('http://localhost:8080/')).toContain('https://');
    expect(fault('http://localhost:8080/', false)).toBeUndefined();
    for (const host of ['127.0.0.1', '[::1]']) expect(fault(`https://${host}:8080/`, false)).toBeUndefined();
    expect(fault('ftp://localhost/', false)).toContain('https://');
    expect(fault('http://localhost.example/', false)).toContain('https://');
    expect(fault('https://:secret@home.example/')).toContain('credentials');
    expect(fault('javascript:alert(1)', false)).toContain('https://');
  });
});

describe("the tenant's colour", () => {
  const parts = (colour: string) =>
    colour.match(/[\da-f]{2}/g)!.map((part) => parseInt(part, 16)) as [number, number, number];
  it.each([
    // Colours with enough contrast stay as they are; others go only as far as they must.
    ['#0a5c36', '#0a5c36', '#ffffff', '#60957c', '#000000'],
    ['#ffe14d', '#736523', '#ffffff', '#ffe14d', '#000000'],
    ['#777777', '#6b6b6b', '#ffffff', '#8b8b8b', '#000000'],
  ])('%s is %s with %s on light pages, and %s with %s on dark ones', (colour, ...expected) => {
    const { light, dark } = accentsOf(colour);
    expect([light.accent, light.text, dark.accent, dark.text]).toEqual(expected);
  });

  it.each([
    [[0, 0, 0], 21],
    [[255, 255, 255], 1],
    [[255, 0, 0], 4.0],
    [[0, 255, 0], 1.37],
    [[0, 0, 255], 8.59],
    [[10, 10, 10], 19.8],
    [[118, 118, 118], 4.54],
  ] as const)('of %j has the contrast %d with white', (colour, ratio) =>
    expect(contrast(colour, [255, 255, 255])).toBeCloseTo(ratio, 1),
  );

  it.each(['#ffe14d', '#000000', '#ffffff', '#0a5c36', '#ff0000', '#7f7f7f'])(
    'is readable on both pages, and text on it: %s',
    (colour) => {
      const { light, dark } = accentsOf(colour);
      expect(contrast(parts(light.accent), [244, 245, 247])).toBeGreaterThanOrEqual(4.5);
      expect(contrast(parts(dark.accent), [28, 34, 43])).toBeGreaterThanOrEqual(4.5);
      for (const { accent, text } of [light, dark])
        expect(contrast(parts(accent), parts(text))).toBeGreaterThanOrEqual(4.5);
    },
  );
});

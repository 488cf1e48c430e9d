import { expect, it } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import { environmentFor } from '../../../test/setup/test-environment.js';
import type { InverterBrand } from '../../platform/env/brand-files.js';
import { Problem } from '../../platform/problem/problem.js';
import { ProblemPages } from '../../platform/problem/problem-pages.js';
import { Brands } from '../brands.service.js';
import { OwnerPageView, type PageContext } from './owner-page.view.js';
import { OwnerTexts, type Translate } from './owner-texts.service.js';

const environment = environmentFor('postgres://none@127.0.0.1/none', {
  BRAND_NAME: 'Sunny',
  BRAND_SUPPORT_URL: 'https://sunny.example/help',
  BRAND_PRIVACY_URL: 'https://sunny.example/terms',
  INVITATION_RETURN_ORIGINS: 'https://sunny.example',
  TIME_ZONE: 'Europe/Amsterdam',
});

/** Texts that are their keys, with the values in them. */
class Keys extends OwnerTexts {
  override in(): Translate {
    return (key, values = {}) => [key, ...Object.values(values)].join(' ');
  }
}

const brands = new Brands(environment);
(brands.all as Map<string, InverterBrand>).set('sun w', {
  name: 'SunWard',
  picture: { type: 'image/svg+xml', content: Buffer.from('') },
  en: { traps: 'Traps.', account: 'Account.', login: 'Login.', helpUrl: 'https://sunward.example/' },
});
const pages = new ProblemPages();
const texts = new Keys(environment);
const view = new OwnerPageView(environment, texts, brands, pages);
const { hash, locale } = texts.consentIn(environment.DEFAULT_LOCALE);
const GIVEN = { hash, locale, withdrawnAt: null };

/** Returns what people see of a page and where it leads: a line for each block, with the attributes that matter. */
function outlineOf(html: string): string[] {
  const body = html
    .replace(/^[^]*<nav/, '<nav')
    .replaceAll(/[0-9a-f]{64}/g, 'HASH')
    .replaceAll(/<p class="busy"[^>]*>/g, '');
  const lines: string[] = [];
  for (const [, tag, all, text] of body.matchAll(/<([a-z]\w*)((?: [^>]*)?)>([^<]*)/g)) {
    const attributes = [
      ...all!.matchAll(
        / (class|name|value|href|src|action|open|data-[a-z-]+|aria-(?:current|invalid))(?:="([^"]*)")?(?=[ >/]|$)/g,
      ),
    ];
    const words = [...attributes.map(([, name, value]) => value ?? name), text!.trim()].filter(
      (word) => word !== '',
    );
    if (/^(nav|main|h1|p|ol|ul|section|details|form|article|footer)$/.test(tag!)) lines.push(tag!);
    if (words.length > 0) lines.push(`${lines.pop()} | ${words.join(' ')}`);
  }
  return lines.filter((line) => line.includes('|'));
}

function sent(url: string, send: (reply: FastifyReply) => void): string[] {
  let body = '';
  const reply = {
    request: { url, headers: {} },
    headers: () => reply,
    send: (text: string) => (body = text),
  };
  send(reply as unknown as FastifyReply);
  return outlineOf(body);
}

const FOOTER = 'footer | https://sunny.example/help support | https://sunny.example/terms privacy';
const BEGUN =
  'ol | progress | now step | progress.choose | progress.about 1 minute | · progress.now | todo | progress.signIn | progress.about 2 minutes | todo | progress.allow | progress.about 1 minute | todo | progress.wait | progress.nothing';
const SIGNING_IN =
  'ol | progress | done | progress.choose | progress.done | now step | progress.signIn | progress.about 2 minutes | · progress.now | todo | progress.allow | progress.about 1 minute | todo | progress.wait | progress.most 15 minutes';
const SIGNING_IN_ALONE = SIGNING_IN.replace('progress.most 15 minutes', 'progress.nothing');
const WAITING =
  'ol | progress | done | progress.choose | progress.done | done | progress.signIn | progress.done | done | progress.allow | progress.done | now step | progress.wait | progress.most 15 minutes | · progress.now';
const LATE = WAITING.replace('progress.most 15 minutes', 'progress.late');
const ONLINE =
  'ol | progress | done | progress.choose | progress.done | done | progress.signIn | progress.done | done | progress.allow | progress.done | done | progress.wait | progress.done';
const BRANDS = 'ul | brands | online | acme | step.online | todo | SunWard | step.todo';
const SECTION =
  'section | brand | brand-picture?brand=sun%20w | brand.heading SunWard | brand.account | Account. | brand.login | Login. | brand.traps | Traps.';
const consent = (open: string) => [
  `details | consent${open} | parts.heading | why.heading | why | benefit.heading | benefit | read.heading | read | limit.heading | limit | password.heading | password | withdraw.heading | withdraw`,
  'p | sentence consent',
];
const decline = (query: string) => [
  'details | decline',
  `form | TOKEN/decline${query} | secondary reason not_interested decline.not_interested | secondary reason not_mine decline.not_mine | secondary reason login_elsewhere decline.login_elsewhere`,
];
const WITHDRAWAL = [
  ...['details | withdrawal', 'form | TOKEN/withdrawal', 'p | withdrawal.text'],
  'p | withdrawn.access | secondary withdrawal.button',
];
const LEADS = 'p | leads leads leads.after';
const RETURN = { returnUrl: 'https://sunny.example/back' };
const ONE = [{ brand: 'acme', kind: 'online', isLate: false }] as const;
const TWO = [...ONE, { brand: 'sun w', kind: 'todo', isLate: false }] as const;

it.each<[string, Parameters<OwnerPageView['send']>[1], PageContext, string[]]>([
  [
    '?lang=en',
    { kind: 'ready', brand: 'sun w', steps: TWO },
    {
      label: 'Barn',
      isUnopened: true,
      host: 'scs.example',
      notice: 'outage',
      failingBrands: ['acme', 'sun w'],
    },
    [
      ...['main | data-unopened', 'h1 | ready.heading', 'p | ready.invited', 'p | place Barn'],
      ...['p | ready.duration', BEGUN, BRANDS.replaceAll('todo', 'failing')],
      ...['p | notice outage', SECTION],
      ...['p | https://sunward.example/ brand.help SunWard', ...consent(' open')],
      'form | begin ?lang=en&amp;brand=sun+w&amp;text=HASH | ready.buttonOfBrand SunWard',
      ...['p | leads leads.after', ...decline('?lang=en')],
    ],
  ],
  [
    '',
    { kind: 'next', brand: null, steps: [TWO[1]] },
    { isDisconnected: true, label: 5, consents: [GIVEN] },
    [
      ...['main | data-live', 'h1 | next.heading', 'p | disconnected.text', 'p | ready.duration', BEGUN],
      ...[...consent(''), 'form | begin ?text=HASH | ready.button', LEADS, ...decline('')],
      ...[...WITHDRAWAL, 'p | ?receipt= receipt.link'],
    ],
  ],
  [
    '',
    { kind: 'started', brand: 'acme', steps: ONE },
    { usualWaitSeconds: 900, consents: [GIVEN] },
    [
      ...['main | data-live data-goes-on', 'h1 | started.heading', 'p | started.text', SIGNING_IN],
      ...[...consent(''), 'form | begin ?brand=acme&amp;text=HASH | started.buttonOfBrand acme', LEADS],
      ...[...decline(''), ...WITHDRAWAL, 'p | ?receipt= receipt.link'],
    ],
  ],
  [
    '',
    { kind: 'started', brand: null, steps: [] },
    {
      consents: [
        { ...GIVEN, hash: 'of an earlier text' },
        { ...GIVEN, withdrawnAt: new Date() },
      ],
    },
    [
      ...['main | data-live', 'h1 | started.heading', 'p | started.text', SIGNING_IN_ALONE],
      'p | notice consent.changed',
      ...[...consent(' open'), 'form | begin ?text=HASH | started.button', LEADS, ...decline('')],
      ...[...WITHDRAWAL, 'p | ?receipt= receipt.link'],
    ],
  ],
  [
    '',
    { kind: 'waiting', steps: TWO },
    { usualWaitSeconds: 900, ...RETURN, consents: [{ ...GIVEN, hash: 'of an earlier text' }] },
    [
      ...['main | data-live', 'h1 | waiting.heading', 'p | waiting.text', 'p | waiting.usually 15 minutes'],
      ...['p | waiting.told', WAITING, BRANDS, ...decline(''), ...WITHDRAWAL],
      'p | ?receipt= receipt.link',
    ],
  ],
  [
    '',
    { kind: 'waiting', brand: 'acme', steps: ONE },
    { usualWaitSeconds: 900, isLate: true, notice: 'outage.brand' },
    [
      ...['main | data-live', 'h1 | late.heading', 'p | late.text', 'p | waiting.told', LATE],
      'p | notice outage.brand acme',
      ...[...consent(''), 'form | begin ?brand=acme&amp;text=HASH | secondary waiting.button'],
      'p | leads leads.after',
      ...decline(''),
    ],
  ],
  [
    '',
    { kind: 'declined', brand: 'acme', steps: [], reason: 'login_elsewhere' },
    { notice: 'consent.changed', consents: [{ ...GIVEN, withdrawnAt: new Date() }] },
    [
      ...['h1 | declined.heading', 'p | declined.text', 'p | declined.handOn', 'p | declined.withdrawn'],
      ...['p | withdrawn.access', 'p | notice consent.changed'],
      ...[...consent(' open'), 'form | begin ?brand=acme&amp;text=HASH | secondary declined.button', LEADS],
      'p | ?receipt= receipt.link',
    ],
  ],
  [
    '',
    { kind: 'online' },
    { consents: [GIVEN] },
    [
      'h1 | online.heading',
      'p | online.text',
      'p | online.after',
      ONLINE,
      ...WITHDRAWAL,
      'p | ?receipt= receipt.link',
    ],
  ],
  [
    '',
    { kind: 'withdrawn', brand: 'acme', steps: ONE },
    { consents: [{ ...GIVEN, withdrawnAt: new Date() }] },
    [
      ...['h1 | withdrawn.heading', 'p | withdrawn.text', 'p | withdrawn.access', ...consent(' open')],
      ...['form | begin ?brand=acme&amp;text=HASH | secondary withdrawn.button', 'p | leads leads.after'],
      'p | ?receipt= receipt.link',
    ],
  ],
  [
    '',
    { kind: 'revoked' },
    { consents: [{ ...GIVEN, withdrawnAt: new Date() }] },
    [
      ...['h1 | revoked.heading', 'p | revoked.text', 'p | declined.withdrawn', 'p | withdrawn.access'],
      'p | ?receipt= receipt.link',
    ],
  ],
  [
    '/renewal?lang=en',
    { kind: 'expired' },
    RETURN,
    [
      ...['h1 | expired.heading', 'p | expired.text'],
      ...['form | ../TOKEN/renewal?lang=en | expired.button', 'p | https://sunny.example/back return'],
    ],
  ],
  ...(['outage', 'outage.brand', undefined] as const).map(
    (notice): [string, Parameters<OwnerPageView['send']>[1], PageContext, string[]] => [
      '',
      { kind: 'wish', steps: ONE, wished: 'sun w' },
      { notice },
      [
        ...['main | data-live', `h1 | ${notice ? 'kept' : 'wish'}.heading`],
        notice === 'outage.brand' ? 'p | kept.text SunWard' : 'p | wish.text',
        ...(notice ? ['p | kept.reminder'] : []),
        ...[BEGUN, ...decline('')],
      ],
    ],
  ),
  [
    '',
    { kind: 'revoked' },
    // Of an origin that is no longer configured.
    { returnUrl: 'https://former.example/back' },
    ['h1 | revoked.heading', 'p | revoked.text'],
  ],
  ['', { kind: 'erased' }, RETURN, ['h1 | erased.heading', 'p | erased.text']],
  [
    '/?lang=en',
    { kind: 'wrongCode' },
    {},
    [
      ...['h1 | wrongCode.heading', 'p | wrongCode.text'],
      'form | ../../i?lang=en | code.label | code true | code.button',
    ],
  ],
  [
    '',
    { kind: 'code' },
    {},
    ['h1 | code.heading', 'p | code.text', 'form | ../i | code.label | code | code.button'],
  ],
  [
    '?lang=en',
    { kind: 'tooMany' },
    {},
    ['h1 | tooMany.heading', 'p | tooMany.text', 'form | ? | lang en | retry'],
  ],
])('the page at %j is %j with %j', (end, page, context, blocks) => {
  expect(sent(`/i/TOKEN${end}`, (reply) => view.send(reply, page, { token: 'TOKEN', ...context }))).toEqual([
    'nav | ?lang=en true English | ?lang=nl Nederlands | ?lang=de Deutsch | ?lang=fr Français',
    ...[...blocks, FOOTER],
  ]);
});

it('a receipt has each consent with its text, and a time in the zone of the tenant', () => {
  const consent = { id: '1', version: 'v1', hash: 'h1', locale: 'nl', text: 'one\n\ntwo' } as const;
  const [givenAt, withdrawnAt] = [new Date('2026-07-01T22:30:00Z'), new Date('2026-12-31T23:30:00Z')];
  const consents = [
    {
      ...consent,
      brand: 'sun w',
      givenAt,
      withdrawnAt,
      text: ['1', '2', '3', '4', '5', '6', 'Yes.'].join('\n\n'),
    },
    { ...consent, brand: null, givenAt, withdrawnAt: null },
  ];
  const RECEIPTED = { locale: null, gridLocationId: 'LOCATION', metadata: { label: 'Barn' } };
  const link = (locale: string) => `?receipt=&amp;lang=${locale}`;
  expect(
    sent('/i/TOKEN?receipt=&lang=en', (reply) => view.sendReceipt(reply, 'TOKEN', consents, RECEIPTED)),
  ).toEqual([
    `nav | ${link('en')} true English | ${link('nl')} Nederlands | ${link('de')} Deutsch | ${link('fr')} Français`,
    ...[
      'h1 | receipt.heading',
      'p | receipt.text',
      'article | receipt | why.heading',
      'p | 1 | benefit.heading',
    ],
    ...[
      'p | 2 | read.heading',
      'p | 3 | limit.heading',
      'p | 4 | password.heading',
      'p | 5 | withdraw.heading',
    ],
    ...['p | 6', 'p | Yes.'],
    expect.stringMatching(
      /^ul \| receipt.to \| place Barn \| receipt.location LOCATION \| receipt.given July 2, 2026.* 12:30.* \| receipt.withdrawn January 1, 2027.* 12:30.* \| receipt.brand SunWard \| receipt.version v1 \| receipt.hash h1$/,
    ),
    ...['article | receipt', 'p | one', 'p | two'],
    expect.stringMatching(
      /^ul .* \| receipt.given July 2, 2026[^|]*\| receipt.version v1 \| receipt.hash h1$/,
    ),
    ...['p | TOKEN?lang=en receipt.back', FOOTER],
  ]);
});

it.each([
  ['/i/', 'not_found', 'code'],
  ['/i/x', 'not_found', 'unknown'],
  ['/i/', 'invalid_request', 'unknown'],
  ['/i/x', 'too_many_requests', 'tooMany'],
  ['/i/x', 'internal_error', 'trouble'],
] as const)('the page at %s for %s is %s', (url, code, kind) => {
  const { body } = pages.find(new Problem(code, ''), url, {})!;
  expect(outlineOf(body)).toContain(`h1 | ${kind}.heading`);
});

import { expect, it } from '@jest/globals';
import { prefixPattern, readTerm } from './search.rules.js';

const NOTHING = { text: '', id: null, ean: null };

it.each([
  ['  ', NOTHING],
  [' 541448820044186577 ', { ean: '541448820044186577' }],
  ['5414 4882 0044 1865 77', { ean: '541448820044186577' }],
  ['\u200e541448820044186577\u200f', { ean: '541448820044186577' }],
  ['\u2066541448820044186577\u2069', { ean: '541448820044186577' }],
  ['\ufeff5414\u00ad4882\u200b0044\u2060186577', { ean: '541448820044186577' }],
  ['5414\u00a04882\u202f0044\u20091865\u300077', { ean: '541448820044186577' }],
  ['541448820044186577\n', { ean: '541448820044186577' }],
  ['5414–4882–0044–1865–77', { ean: '541448820044186577' }],
  ["'541448820044186577", { ean: '541448820044186577' }],
  ['’541448820044186577', { ean: '541448820044186577' }],
  ['="541448820044186577"', { ean: '541448820044186577' }],
  ['"=""541448820044186577"""', { ean: '541448820044186577' }],
  ['= “541448820044186577”', { ean: '541448820044186577' }],
  ['５４１４４８８２００４４１８６５７７', { ean: '541448820044186577' }],
  ['="customer-1001"', { text: 'customer-1001', id: null, ean: null }],
  ["'00123", { text: '00123', id: null, ean: null }],
  ['\u200ecustomer-1001\u200f', { text: 'customer-1001', id: null, ean: null }],
  ['cafe\u0301', { text: 'caf\u00e9', id: null, ean: null }],
  ["o'brien", { text: "o'brien", id: null, ean: null }],
  ['="\u200e" ', NOTHING],
  ['\u202a8bc432c7-fd1e-4d99-9dcb-2fbcb63255c5\u202c', { id: '8bc432c7-fd1e-4d99-9dcb-2fbcb63255c5' }],
  ['customer-1001', { text: 'customer-1001', id: null, ean: null }],
  ...['541448820044', '1541448820044186577'].map((digits) => [digits, { text: digits, ean: null }] as const),
  ...['a8bc432c7-fd1e-4d99-9dcb-2fbcb63255c5', '8bc432c7-fd1e-4d99-9dcb-2fbcb63255c5a'].map(
    (id) => [id, { text: id, id: null }] as const,
  ),
  ['8BC432C7-fd1e-4d99-9dcb-2fbcb63255c5', { id: '8bc432c7-fd1e-4d99-9dcb-2fbcb63255c5' }],
])('reads %j', (text, term) => expect(readTerm(text)).toMatchObject(term));

it('reads the token of a link only where there is neither an id nor an EAN', () => {
  const link = `https://pv.example/i/${'t'.repeat(43)}`;
  expect(readTerm(link).tokens).toContain('t'.repeat(43));
  for (const other of ['541448820044186577', '8bc432c7-fd1e-4d99-9dcb-2fbcb63255c5'])
    expect(readTerm(`${other} ${link}`).tokens).toEqual([]);
});

it.each([
  'Sehr geehrter Herr Muster bitte folgen Sie dem Link https://pv.example/i/',
  'https://pv-onboarding-of-the-customers-of-our-municipality.example/pv/i/',
  'https://safe.example/?url=https%253A%252F%252Fpv-onboarding-of-the-customers-of-our-municipality.example%252Fi%252F',
])('reads the token of a link behind a long text: %j', (before) =>
  expect(readTerm(`${before}${'t'.repeat(43)}`).tokens).toContain('t'.repeat(43)),
);

it('finds what begins with a text, whatever LIKE means by its characters', () =>
  expect(prefixPattern('50%_a\\_')).toBe('50\\%\\_a\\\\\\_%'));

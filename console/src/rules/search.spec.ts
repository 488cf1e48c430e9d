import { expect, it } from '@jest/globals';
import { readTerm } from './search.js';

it.each([
  ['  ', { kind: 'nothing' }],
  [' 541448820044186577 ', { kind: 'ean', ean: '541448820044186577' }],
  ['5414 4882 0044 1865 77', { kind: 'ean', ean: '541448820044186577' }],
  ['\u200e541448820044186577\u200f', { kind: 'ean', ean: '541448820044186577' }],
  ['\u2066541448820044186577\u2069', { kind: 'ean', ean: '541448820044186577' }],
  ['\ufeff5414\u00ad4882\u200b0044\u2060186577', { kind: 'ean', ean: '541448820044186577' }],
  ['5414\u00a04882\u202f0044\u20091865\u300077', { kind: 'ean', ean: '541448820044186577' }],
  ['541448820044186577\n', { kind: 'ean', ean: '541448820044186577' }],
  ['5414–4882–0044–1865–77', { kind: 'ean', ean: '541448820044186577' }],
  ["'541448820044186577", { kind: 'ean', ean: '541448820044186577' }],
  ['’541448820044186577', { kind: 'ean', ean: '541448820044186577' }],
  ['="541448820044186577"', { kind: 'ean', ean: '541448820044186577' }],
  ['"=""541448820044186577"""', { kind: 'ean', ean: '541448820044186577' }],
  ['= “541448820044186577”', { kind: 'ean', ean: '541448820044186577' }],
  ['５４１４４８８２００４４１８６５７７', { kind: 'ean', ean: '541448820044186577' }],
  ['="customer-1001"', { kind: 'reference', tenantReference: 'customer-1001' }],
  ["'00123", { kind: 'reference', tenantReference: '00123' }],
  ['\u200ecustomer-1001\u200f', { kind: 'reference', tenantReference: 'customer-1001' }],
  ['cafe\u0301', { kind: 'reference', tenantReference: 'caf\u00e9' }],
  ["o'brien", { kind: 'reference', tenantReference: "o'brien" }],
  ['="\u200e" ', { kind: 'nothing' }],
  [
    '\u202a8bc432c7-fd1e-4d99-9dcb-2fbcb63255c5\u202c',
    { kind: 'id', id: '8bc432c7-fd1e-4d99-9dcb-2fbcb63255c5' },
  ],
  ['customer-1001', { kind: 'reference', tenantReference: 'customer-1001' }],
  ...['541448820044', '1541448820044186577'].map(
    (digits) => [digits, { kind: 'reference', tenantReference: digits }] as const,
  ),
  ...['a8bc432c7-fd1e-4d99-9dcb-2fbcb63255c5', '8bc432c7-fd1e-4d99-9dcb-2fbcb63255c5a'].map(
    (id) => [id, { kind: 'reference', tenantReference: id }] as const,
  ),
  ['8BC432C7-fd1e-4d99-9dcb-2fbcb63255c5', { kind: 'id', id: '8bc432c7-fd1e-4d99-9dcb-2fbcb63255c5' }],
])('reads %j', (text, term) => expect(readTerm(text)).toEqual(term));

import { expect, it } from '@jest/globals';
import { readTerm } from './search.js';

it.each([
  ['  ', { kind: 'nothing' }],
  [' 541448820044186577 ', { kind: 'ean', ean: '541448820044186577' }],
  ['5414 4882 0044 1865 77', { kind: 'ean', ean: '541448820044186577' }],
  ['customer-1001', { kind: 'reference', tenantReference: 'customer-1001' }],
  ['541448820044', { kind: 'reference', tenantReference: '541448820044' }],
  ['8BC432C7-fd1e-4d99-9dcb-2fbcb63255c5', { kind: 'id', id: '8bc432c7-fd1e-4d99-9dcb-2fbcb63255c5' }],
])('reads %j', (text, term) => expect(readTerm(text)).toEqual(term));

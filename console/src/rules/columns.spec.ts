import { expect, it } from '@jest/globals';
import { mappingFault, proposalOf, type Use } from './columns.js';

it.each([
  [
    ['Klantnummer', 'EAN-code', 'Merk', 'Taal'],
    ['tenantReference', 'ean', 'brand', 'locale'],
  ],
  [
    ['Numéro client', 'Code EAN', 'Marque', 'Langue'],
    ['tenantReference', 'ean', 'brand', 'locale'],
  ],
  [
    ['Kunden-Nr.', 'EAN', 'Hersteller', 'Sprache'],
    ['tenantReference', 'ean', 'brand', 'locale'],
  ],
  [
    ['tenantReference', 'ean', 'metadata.note', 'expectedInverters'],
    ['tenantReference', 'ean', 'metadata.note', 'expectedInverters'],
  ],
  [
    ['Customer', 'Client', 'EAN', 'Street'],
    ['tenantReference', '', 'ean', ''],
  ],
])('%j is read as %j', (headers, uses) => {
  expect(proposalOf(headers)).toEqual(uses);
});

it.each<[Use[], string | null]>([
  [['tenantReference', 'ean', ''], null],
  [['tenantReference', ''], 'Say which column is “EAN”.'],
  [['', ''], 'Say which column is “Customer reference” and which is “EAN”.'],
  [['ean', 'ean', 'tenantReference'], 'Two columns are “EAN”. Choose one.'],
  [['tenantReference', 'ean', 'metadata.a', 'metadata.a'], 'Two columns are “own data: a”. Choose one.'],
])('of the mapping %j, this is wrong: %j', (uses, fault) => {
  expect(mappingFault(uses)).toBe(fault);
});

import { expect, it } from '@jest/globals';
import { brandNamesOf } from './brands.js';

it('brands are shown by their names, and without one by their ids', () => {
  const { all, nameOf, namesOf, idsIn } = brandNamesOf([{ id: 'acme', name: 'Acme Solar' }]);
  expect([nameOf('acme'), nameOf('other'), namesOf(['other', 'acme']), namesOf([])]).toEqual([
    'Acme Solar',
    'other',
    'other, Acme Solar',
    '',
  ]);
  expect(idsIn(' acme solar,other ,, ACME SOLAR')).toEqual(['acme', 'other', 'acme']);
  expect(all).toEqual([['acme', 'Acme Solar']]);
});

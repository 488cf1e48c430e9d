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

it('what is shown of brands and read again is the same brands, also with commas in them, one name for two, or an id as a name', () => {
  const ids = ['h', 'b,c', 'one', 'two', 'b', 'other'];
  const { namesOf, idsIn } = brandNamesOf([
    { id: 'h', name: 'Hua Co., Ltd.' },
    { id: 'b,c', name: 'b,c' },
    { id: 'one', name: 'Same' },
    { id: 'two', name: 'same' },
    { id: 'b', name: 'One' },
  ]);
  expect(namesOf(ids)).toBe('Hua Co., Ltd., b,c, one, same, One, other');
  for (const some of [ids, ids.toReversed(), ['b', 'h', 'b'], []]) expect(idsIn(namesOf(some))).toEqual(some);
});

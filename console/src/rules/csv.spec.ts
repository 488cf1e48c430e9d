import { expect, it } from '@jest/globals';
import { csvOf } from './csv.js';

const csv = (...cells: (string | number | null)[]) => csvOf([cells]).replace('\uFEFF', '').trimEnd();

it('quotes what has a comma, a quote or a line break', () => {
  expect(csv('a,b', 'say "x"', 'two\nlines', 'plain')).toBe('"a,b","say ""x""","two\nlines",plain');
});

it.each(['=1+1', '+1', '-1', '@a', '\t=1', ' =1'])('writes %j as a text, not as a formula', (value) => {
  expect(csv('a', value)).toBe(`a,'${value}`);
});

it('writes numbers as they are, and nothing for null', () => {
  expect(csv(-1.5, null, 0)).toBe('-1.5,,0');
});

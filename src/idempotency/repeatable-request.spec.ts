import { expect, it } from '@jest/globals';
import { parseLossless } from '../platform/json/lossless.js';
import { hashOfBody } from './repeatable-request.js';

const hashOf = (text: string) => hashOfBody(parseLossless(text));

it.each([
  ['{"a":[{"b":1,"c":2}],"d":3}', '{"d":3,"a":[{"c":2,"b":1}]}'],
  ['{"ean":871685019095644724}', '{"ean":"871685019095644724"}'],
  ['{"ean":1}', '{ "ean": 1 }'],
])('%s is the same body as %s', (one, other) => {
  expect(hashOf(one)).toBe(hashOf(other));
});

it('no body is the same body as {}', () => {
  expect(hashOfBody(undefined)).toBe(hashOf('{}'));
});

it.each([
  // Two numbers with one nearest double.
  ['{"ean":871685019095644724}', '{"ean":871685019095644725}'],
  ['[1,2]', '[2,1]'],
  ['{"a":{"b":1}}', '{"b":{"a":1}}'],
  ['{"a":null}', '{}'],
])('%s is another body than %s', (one, other) => {
  expect(hashOf(one)).not.toBe(hashOf(other));
});

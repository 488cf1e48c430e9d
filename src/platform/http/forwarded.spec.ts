import { describe, expect, it } from '@jest/globals';
import { addressIn, entryOfHop, normaliseForwarded } from './forwarded.rules.js';

describe('addressIn', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:51234', '192.0.2.1'],
    [' 192.0.2.1 ', '192.0.2.1'],
    ['"192.0.2.1:51234"', '192.0.2.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:51234', '2001:db8::1'],
    ['"[2001:DB8::1]:51234"', '2001:DB8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
    ['[::ffff:192.0.2.1]:443', '::ffff:192.0.2.1'],
    ['unknown', 'unknown'],
    ['_hidden', '_hidden'],
    ['', ''],
    ['192.0.2.1:x', '192.0.2.1:x'],
  ])('of %j is %j', (entry, address) => expect(addressIn(entry)).toBe(address));
});

describe('entryOfHop', () => {
  it.each([
    ['https', 1, 'https'],
    ['https', 3, 'https'],
    ['https,http', 1, 'http'],
    ['https, http', 2, 'https'],
    ['http, https, http', 2, 'https'],
    ['https,', 1, ''],
  ])('of %j by %d trusted proxies is %j', (list, hops, entry) => expect(entryOfHop(list, hops)).toBe(entry));
});

it('rewrites the headers that are given, and counts the proxies by addresses without ports', () => {
  const headers = {
    'x-forwarded-for': '192.0.2.9:1, [2001:db8::1]:2',
    'x-forwarded-proto': 'http, HTTPS, http',
    'x-forwarded-host': 'forged.example, pv.example, inner:3000',
  };
  normaliseForwarded(
    headers,
    () => headers['x-forwarded-for'].split(', ').filter((a) => a.endsWith('::1')).length + 1,
  );
  expect(headers).toEqual({
    'x-forwarded-for': '192.0.2.9, 2001:db8::1',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'pv.example',
  });
  const none = {};
  normaliseForwarded(none, () => 1);
  expect(none).toEqual({});
});

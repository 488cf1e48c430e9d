import { expect, it } from '@jest/globals';
import { expiryOf, expiresSoon } from './certificate-expiry.rules.js';

const NOW = new Date('2026-11-22T12:00:00Z');
const day = (days: number) => new Date(NOW.getTime() + days * 86_400_000).toUTCString();
const valid = (fromDays: number, toDays: number) => ({ validFrom: day(fromDays), validTo: day(toDays) });

it.each([
  ['a year, 31 days left', valid(-334, 31), false],
  ['a year, 29 days left', valid(-336, 29), true],
  ['90 days, 31 days left', valid(-59, 31), false],
  ['90 days, 29 days left', valid(-61, 29), true],
  ['6 days, 3 left', valid(-3, 3), false],
  ['6 days, less than 2 left', valid(-4.1, 1.9), true],
  ['expired', valid(-90, -1), true],
])('a certificate of %s expires soon: %s', (_, certificate, expected) =>
  expect(expiresSoon(certificate, NOW)).toBe(expected),
);

it.each([
  ['client', [valid(-1, 300), valid(-1, 10)], 10],
  ['authority', [valid(-900, -10), valid(-1, 300)], 300],
  ['authority', [valid(-900, -10)], -10],
  ['authority', [valid(-900, 20), valid(-1, 300)], 20],
] as const)(
  'the expiry of a file of the kind %s is that of the certificate that decides',
  (kind, all, days) => expect(expiryOf(all, kind, NOW).expiresAt).toBe(new Date(day(days)).toISOString()),
);

import { expect, it } from '@jest/globals';
import { formatInstant } from './instant.js';

it.each([
  ['2026-11-26T13:04:05Z', '14:04:05'],
  ['2026-11-25T23:30:00Z', '00:30:00'],
  ['2026-11-25T22:30:00Z', '25 Nov, 23:30'],
  ['2026-05-30T15:00:01Z', '30 May, 17:00'],
  ['2026-05-30T15:00:00Z', '30 May 2026'],
  ['2025-11-26T13:04:05Z', '26 Nov 2025'],
])('%s is written in the zone of the viewer', (at, text) => {
  const now = new Date('2026-11-26T15:00:00Z');
  expect(formatInstant(new Date(at), now, 'Europe/Brussels')).toBe(text);
});

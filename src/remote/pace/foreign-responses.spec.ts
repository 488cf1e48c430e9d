import { expect, it } from '@jest/globals';
import type { RemoteResponse } from '../outcome.rules.js';
import { ForeignResponses } from './foreign-responses.js';

const refusal = (body: string, status = 404): RemoteResponse => ({ status, body });
const OWN = refusal('');
/** When a row begins: the process has run for a while. */
const FROM = 100_000;

/** Records refusals, one every `everyMs` from `from` on. Returns which of them had a familiar form. */
const recordRow = (foreign: ForeignResponses, count: number, everyMs: number, from = FROM, response = OWN) =>
  Array.from({ length: count }, (_, nth) => foreign.record(response, from + nth * everyMs));

/** Returns forms that are familiar, because a call was served after one of each. */
function learned(...responses: RemoteResponse[]): ForeignResponses {
  const foreign = new ForeignResponses();
  for (const response of responses) foreign.record(response, 0);
  foreign.recordServed();
  return foreign;
}
const familiar = (count: number) => Array<boolean>(count).fill(true);

it('learns a form when a call is served after it, whatever its digits', () => {
  const foreign = new ForeignResponses();
  expect(foreign.record(refusal('no session 17'), 0)).toBe(false);
  expect(foreign.has(refusal('no session 18'))).toBe(true);
  foreign.recordServed();
  expect(foreign.has(refusal('no session 18'))).toBe(false);
  expect(foreign.record(refusal('no session 18'), 0)).toBe(true);
  expect(foreign.record(refusal('no route'), 0)).toBe(false);
  expect(foreign.record(refusal('no session 18', 410), 0)).toBe(false);
});

it.each([
  ['many at once, as of sessions that are deleted together', 50, 0],
  ['a few within hours, as of a service that hardly anybody uses', 10, 3_600_000],
  ['many within less than 20 s', 20, 1_050],
])('keeps what it has learned during refusals in a row: %s', (_, count, everyMs) => {
  expect(recordRow(learned(OWN), count, everyMs)).toEqual(familiar(count));
});

it('forgets what it has learned after more than ten refusals in a row over 20 s, and tells their duration', () => {
  const foreign = learned(OWN, refusal('gone'));
  expect(recordRow(foreign, 12, 2_000)).toEqual([...familiar(10), false, false]);
  expect(foreign.has(OWN)).toBe(true);
  expect(foreign.lastedMs(FROM + 30_000)).toBe(30_000);
  expect(foreign.record(refusal('gone'), FROM + 30_000)).toBe(false);
});

it('counts the refusals anew after each served call, so that the next outage is noticed, too', () => {
  const foreign = learned(OWN);
  for (let outage = 0; outage < 3; outage++) {
    const from = FROM + outage * 3_600_000;
    expect(recordRow(foreign, 3, 10_000, from)).toEqual(familiar(3));
    foreign.recordServed();
    expect(recordRow(foreign, 12, 10_000, from + 60_000)).toEqual([...familiar(10), false, false]);
    foreign.recordServed();
    expect(foreign.lastedMs(from + 300_000)).toBe(0);
  }
});

it('remembers at most 100 forms', () => {
  const forms = Array.from({ length: 101 }, (_, nth) => refusal('x'.repeat(nth)));
  const foreign = learned(...forms);
  expect(forms.filter((form) => !foreign.record(form, 0))).toEqual([forms[100]]);
});

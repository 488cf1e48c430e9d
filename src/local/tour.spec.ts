import { expect, it } from '@jest/globals';
import { addressesOf, tourOf } from './tour.js';

const REMOTE = 'http://remote';
const OF_SERVICE = [/\/docs,/, /\/openapi\.json/, /\/console /, /http:\/\/remote /];
const OF_TOUR = [
  /key +a-key\n/,
  /tour-1/,
  /<18 digits>/,
  /http:\/\/remote\/sandbox/,
  /a\.state === "online"/,
];

it.each([
  [{ CONSOLE: true, DOCS: true }, true, [true, false, true, true], [true, true, false, true, true]],
  [{ CONSOLE: false, DOCS: true }, false, [true, false, false, false], [true, false, true, false, true]],
  [{ CONSOLE: true, DOCS: false }, true, [false, true, true, true], [true, true, false, true, true]],
])('with %j, and the sandbox: %s, has what there is', (shown, withSandbox, ofService, ofTour) => {
  const environment = { ADMIN_API_KEY: 'a-key', SCS_BASE_URL: REMOTE, ...shown };
  const tour = { url: 'http://here', environment, withSandbox };
  const has = (text: string, patterns: readonly RegExp[]) => patterns.map((each) => each.test(text));
  expect(has(addressesOf(tour), OF_SERVICE)).toEqual(ofService);
  expect(has(tourOf(tour), [...OF_SERVICE, ...OF_TOUR])).toEqual([...ofService, ...ofTour]);
});

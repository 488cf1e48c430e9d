import { expect, it } from '@jest/globals';
import { idFault, isComplete, readPasted } from './confirmed-user.js';

const [user, first, second] = [1, 2, 3].map((digit) => `8bc432c7-fd1e-4d99-9dcb-2fbcb63255c${digit}`) as [
  string,
  string,
  string,
];
const [ean, other] = ['541448820044186577', '541448820044186584'] as const;
const requested = { tenantReference: 'C-1', gridLocations: [{ ean }, { ean: other }] };
const ids = { user, locations: { [ean]: first, [other]: second } };

it.each([
  [
    'the object of the provider, whose EANs may be numbers',
    `{"id": "${user}", "tenantReference": "C-1", "gridLocations": [{"id":"${first}","ean":${ean}},{"ean":"${other}","id":"${second}"}]}`,
  ],
  ['a mail', `Hello,\nuser ${user}\nEAN ${ean}: ${first}\n${other}\n  ${second}\nRegards`],
  ['cells of a spreadsheet', `${user}\n${ean}\t${first}\n${other}\t${second}`],
  ['a row for each location', `${user} ${ean} ${first}\n${user} ${other} ${second}`],
])('reads the ids from %s', (_, text) => {
  expect(readPasted(text, requested)).toEqual({ ids });
  expect(isComplete(ids)).toBe(true);
});

it.each([
  ['', 'There is no id'],
  ['{"id": 7}', 'There is no id'],
  ['[null]', 'There is no id'],
  [`{"id":"${user}","tenantReference":"C-2"}`, 'another customer'],
  [`${user}\n541448820044186999 ${first}`, 'The EAN 541448820044186999 was not requested'],
])('refuses %j: %s', (text, fault) => {
  expect(readPasted(text, requested)).toEqual({ fault: expect.stringContaining(fault) as unknown });
});

it('leaves empty what the text lacks', () => {
  const read = { user, locations: { [ean]: '', [other]: '' } };
  expect(readPasted(user, requested)).toEqual({ ids: read });
  expect(isComplete(read)).toBe(false);
});

it.each([
  ['', [], null],
  [user, [first, ''], null],
  [user.slice(1), [], 'five groups'],
  [user.toUpperCase(), [user], 'entered twice'],
])('of the id %j beside %j, this is wrong: %s', (id, others, fault) => {
  const expected: unknown = fault === null ? null : expect.stringContaining(fault);
  expect(idFault(id, others)).toEqual(expected);
});

import { expect, it } from '@jest/globals';
import type { Remedy, StalledItem } from '../api/client.js';
import { commonRemedies } from './bulk.js';

const idOf = (digit: number) => `0f6f1c1e-8f3b-4b39-9b7e-1f0a53c6a6b${digit}`;
const remedy = (operationId: string, id: string, body: Remedy['body'] = null): Remedy => ({
  operationId,
  method: 'POST',
  path: `/api/v1/registrations/${id}/act`,
  body,
  label: operationId,
  confirm: null,
});
const item = (name: string, ...remedies: Remedy[]): StalledItem =>
  ({ id: name, tenantReference: name, remedies }) as unknown as StalledItem;

it('offers what all items have, for the ids of their paths', () => {
  const items = [
    item('a', remedy('retryRegistration', idOf(1)), remedy('discardRegistration', idOf(1))),
    item('b', remedy('retryRegistration', idOf(2))),
  ];
  expect(commonRemedies(items)).toEqual([
    {
      operationId: 'retryRegistration',
      label: 'retryRegistration',
      confirm: null,
      body: null,
      on: [
        { id: idOf(1), name: 'a' },
        { id: idOf(2), name: 'b' },
      ],
    },
  ]);
});

it.each([
  ['no item', []],
  ['an operation that is for one only', [item('a', remedy('createInvitation', idOf(1)))]],
  [
    'bodies that differ',
    [
      item('a', remedy('startSession', idOf(1), { brand: 'x' })),
      item('b', remedy('startSession', idOf(2), { brand: 'y' })),
    ],
  ],
  ['one id twice', [item('a', remedy('startSession', idOf(1))), item('b', remedy('startSession', idOf(1)))]],
])('offers nothing for %s', (_, items) => {
  expect(commonRemedies(items)).toEqual([]);
});

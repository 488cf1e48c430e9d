import { expect, it } from '@jest/globals';
import { resultOf, withoutText } from './bulk-result.rules.js';

it.each([
  [399, { code: 'x', detail: 'why' }, { status: 'done', code: null, detail: null }],
  [404, { code: 'not_found', detail: 'why' }, { status: 'skipped', code: 'not_found', detail: 'why' }],
  [409, { code: 'conflict', detail: 'why' }, { status: 'skipped', code: 'conflict', detail: 'why' }],
  [400, { code: 'invalid', detail: 'why' }, { status: 'failed', code: 'invalid', detail: 'why' }],
  [
    502,
    { code: 'remote_rejected', detail: 'a name' },
    { status: 'failed', code: 'remote_rejected', detail: null },
  ],
  [502, { code: 'not_remote_', detail: 'why' }, { status: 'failed', code: 'not_remote_', detail: 'why' }],
  [500, null, { status: 'failed', code: null, detail: null }],
])('a response %i with %j is the result %j', (status, body, result) => {
  expect(resultOf({ status, body })).toEqual(result);
  expect(withoutText(resultOf({ status, body }))).toEqual({
    ...result,
    detail: 'The result cannot be stored as it was',
  });
});

import { expect, it } from '@jest/globals';
import { actionWords, actorWords, detailsOf, pageOfTarget } from './audit.js';

it.each([
  ['key:1', 'Helpdesk', 'Helpdesk'],
  ['console:key:1', 'Helpdesk', 'Helpdesk, in the console'],
  ['environment', null, 'administrator key'],
  ['console:environment', null, 'administrator key, in the console'],
  ['console:oidc:ann', null, 'oidc:ann, in the console'],
  ['retention', null, 'retention'],
])('the actor %s with the name %j is %s', (actor, keyName, words) =>
  expect(actorWords({ actor, keyName })).toBe(words),
);

it.each([
  ['api_key.created', 'API key created', null],
  ['user.erased', 'user erased', null],
  ['user.exported', 'user exported', { to: 'customers', id: '1' }],
  ['webhook_endpoint.secret_rotated', 'webhook endpoint secret rotated', { to: 'webhooks', id: '1' }],
  ['webhook_endpoint.deleted', 'webhook endpoint deleted', null],
])('%s is %s, with the page %j', (action, words, page) => {
  expect(actionWords(action)).toBe(words);
  expect(pageOfTarget({ action, target: '1' })).toEqual(page);
});

it('shows the details that are not empty', () => {
  expect(detailsOf({ name: 'CRM', scopes: ['users:read', 'admin'], types: [], channel: null, n: 0 })).toBe(
    'name: CRM; scopes: users:read, admin; n: 0',
  );
});

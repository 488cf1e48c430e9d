import { expect, it } from '@jest/globals';
import { baseOf, pathOf } from './route.js';
import { homeFor, mayIn } from './scopes.js';

it.each([
  ['/tools/pv/console', '/tools/pv', '/tools/pv/console'],
  ['/tools/pv/console/sessions', '/tools/pv', '/tools/pv/console'],
  ['/console', '/tools/pv', '/console'],
  ['/console/sessions', '/tools/pv', '/console'],
  ['/console/sessions', '', '/console'],
  ['', '', '/console'],
])('at %s, below the path %j, the pages are at %s', (pathname, prefix, base) => {
  expect(baseOf(pathname, prefix)).toBe(base);
});

it('keeps filters in the URL, so that a list can be linked', () => {
  const path = pathOf('sessions', undefined, { stalled: 'expiring_soon' });
  expect(path).toBe('/console/sessions?stalled=expiring_soon');
});

it('has an id in the path, and no empty filters', () => {
  expect(pathOf('sessions', '5f1c', { state: '', stalled: 'a b' })).toBe(
    '/console/sessions/5f1c?stalled=a+b',
  );
  expect(pathOf('', undefined, { state: '' })).toBe('/console');
});

it('a scope is held by itself, or as one of admin', () => {
  const [reader, admin] = [mayIn(['users:read', 'webhooks:manage']), mayIn(['admin'])];
  expect([reader('webhooks:manage'), reader('onboarding:read'), reader('admin')]).toEqual([
    true,
    false,
    false,
  ]);
  expect([admin('webhooks:manage'), admin('admin')]).toEqual([true, true]);
});

it.each([
  [['users:read', 'onboarding:read', 'invitations:write'], 'customers'],
  [['users:read', 'onboarding:read', 'registrations:decide'], ''],
  [['users:read', 'onboarding:read', 'webhooks:manage'], ''],
  [['webhooks:manage', 'events:read'], 'webhooks'],
  [['onboarding:read'], ''],
  [['admin'], ''],
])('a person with %j begins at the page %j', (scopes, page) => {
  expect(homeFor(mayIn(scopes))).toBe(page);
});

import { expect, it } from '@jest/globals';
import { pathOf, routeOf } from './route.js';
import { mayIn } from './scopes.js';

it.each([
  ['/console', '', null],
  ['/console/', '', null],
  ['/console/sessions', 'sessions', null],
  ['/console/sessions/5f1c', 'sessions', '5f1c'],
  ['/console/sessions/5f1c/more', 'unknown', '5f1c'],
  ['/console/constructor', 'unknown', null],
  ['/another/sessions', 'unknown', null],
])('%s is the page %j', (path, page, id) => {
  expect(routeOf(path)).toEqual({ page, id, filters: {} });
});

it.each([
  ['/tools/pv/console', ''],
  ['/tools/pv/console/sessions', 'sessions'],
  ['/console', ''],
  ['/console/sessions', 'sessions'],
  ['/tools/pv/sessions', 'unknown'],
  ['/consoles', 'unknown'],
])('below a path, %s is the page %j', (path, page) => {
  expect(routeOf(path, '', '/tools/pv').page).toBe(page);
});

it('keeps filters in the URL, so that a list can be linked', () => {
  const path = pathOf('sessions', undefined, { stalled: 'expiring_soon' });
  expect(path).toBe('/console/sessions?stalled=expiring_soon');
  expect(routeOf('/console/sessions', '?stalled=expiring_soon').filters).toEqual({
    stalled: 'expiring_soon',
  });
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

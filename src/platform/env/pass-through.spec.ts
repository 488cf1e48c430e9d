import { describe, expect, it } from '@jest/globals';
import { findAllowed, idsIn, readPassThrough } from './pass-through.rules.js';

describe('SCS_PASS_THROUGH', () => {
  it('is methods with patterns, separated by semicolons', () => {
    expect(readPassThrough(' GET users/*/data;POST  inverters/*/curtailments ; ')).toEqual([
      { method: 'GET', pattern: 'users/*/data' },
      { method: 'POST', pattern: 'inverters/*/curtailments' },
    ]);
  });

  it.each([
    ...['GET', 'users/*/data', 'get users/*/data', 'HEAD users/*/data', 'GET users/*/data more'],
    ...['GET /users/*/data', 'GET users//data', 'GET users/*/data/', 'GET users/../data', 'GET users/**'],
    ...['GET users/a*', 'GET users/%41/data', 'GET users/{id}/data', 'GET users/*/data?x=1'],
    'GET users, POST x',
  ])('refuses what is not a method with a pattern: %s', (text) => {
    expect(readPassThrough(text)).toMatch(/^must be METHOD pattern/);
  });

  it.each(['', ';', ' ; '])('refuses to be empty: "%s"', (text) => {
    expect(readPassThrough(text)).toMatch(/^must contain a method and a pattern/);
  });

  it.each([
    ...['POST oauth/token', 'GET oauth/*', 'POST */token', 'PUT */*', 'POST OAuth/Token'],
    ...['POST users', 'POST *', 'PUT users', 'PATCH users', 'DELETE Users'],
    ...['POST onboarding/pv/*', 'GET onboarding/pv/abc', 'GET */pv/*', 'GET onboarding/*/x', 'DELETE */*/*'],
    ...['GET users/*/pv/onboarding-sessions/*', 'GET users/a/*/*/b', 'GET */*/*/*/*'],
  ])('refuses a pattern that reaches an operation of ours: %s', (call) => {
    expect(readPassThrough(`GET users/*/data; ${call}`)).toMatch(/^must not allow .* which reaches the/);
  });

  it.each(['GET users', 'GET users/*', 'POST inverters/*', 'GET users/*/pv/data', 'GET *'])(
    'allows a pattern that reaches none: %s',
    (call) => {
      expect(readPassThrough(call)).toHaveLength(1);
    },
  );
});

describe('an allowed call', () => {
  const allowed = [
    { method: 'GET', pattern: 'users/*/data' },
    { method: 'GET', pattern: 'a_b/*' },
  ] as const;

  it.each(['users/u-1/data', 'users/AZ_09/data', 'a_b/x'])('has the form of a pattern: %s', (path) => {
    expect(findAllowed(allowed, 'GET', path)).toBeDefined();
    expect(findAllowed(allowed, 'POST', path)).toBeUndefined();
  });

  it.each([
    ...['', '/', 'users', 'users//data', 'users/*/data', 'users/a/data/', '/users/a/data', 'users/a/Data'],
    ...['users/../data', 'users/./data', 'users/a.b/data', 'users/a%2Fb/data', 'users/%61/data'],
    ...['users/é/data', 'users/a/data?x', 'users/a/data#x', 'users/a;b/data', 'users/a\\b/data'],
    ...['users/a b/data', 'users/a\n/data'],
  ])('has no other form: %j', (path) => {
    expect(findAllowed(allowed, 'GET', path)).toBeUndefined();
  });
});

it('finds ids in every form in which a database reads them', () => {
  const id = '0f6f1c1e-8f3b-4b39-9b7e-1f0a53c6a6b5';
  expect(idsIn(`users/${id}/x?y=${id.replaceAll('-', '')}&z=${id.toUpperCase()}`)).toHaveLength(3);
  expect(idsIn('users/abc')).toEqual([]);
});

import { describe, expect, it } from '@jest/globals';
import { baseUrlOf, isLoopback, ownOriginsOf, pathPrefixOf, withoutPrefix } from './origins.rules.js';

const RECEIVED = { protocol: 'http', host: 'inside:3000' } as const;

describe('the address of the service', () => {
  it('is PUBLIC_URL, else that of the request', () => {
    expect(baseUrlOf(RECEIVED, 'https://pv.example/app')).toBe('https://pv.example/app');
    expect(baseUrlOf(RECEIVED, undefined)).toBe('http://inside:3000');
    expect(baseUrlOf({ protocol: 'http', host: '' }, undefined)).toBe('http://localhost');
  });

  it('and that of the request are the origins of our pages', () => {
    expect(ownOriginsOf(RECEIVED, undefined)).toEqual(['http://inside:3000']);
    expect(ownOriginsOf(RECEIVED, 'https://pv.example/app')).toEqual([
      'http://inside:3000',
      'https://pv.example',
    ]);
  });

  it.each([
    [undefined, ''],
    ['not a URL', ''],
    ['https://pv.example', ''],
    ['https://pv.example/', ''],
    ['https://pv.example/pv', '/pv'],
    ['https://pv.example/a/b', '/a/b'],
  ])('with PUBLIC_URL %s has the path %j', (publicUrl, prefix) =>
    expect(pathPrefixOf(publicUrl)).toBe(prefix),
  );
});

it.each([
  ['/pv/api/v1/users?a=b', '/pv', '/api/v1/users?a=b'],
  ['/pv', '/pv', '/'],
  ['/pv?a=b', '/pv', '/?a=b'],
  ['/pvs/api', '/pv', '/pvs/api'],
  ['/api/pv/x', '/pv', '/api/pv/x'],
  ['/api', '', '/api'],
  ['?a=b', '', '?a=b'],
])('the path %s without %j is %s', (url, prefix, path) => expect(withoutPrefix(url, prefix)).toBe(path));

it.each([
  ['localhost', true],
  ['127.0.0.1', true],
  ['127.10.20.30', true],
  ['[::1]', true],
  ['localhost.example', false],
  ['my.localhost', false],
  ['127.0.0.1.example', false],
  ['x127.0.0.1', false],
  ['127.0.0.x', false],
  ['[::11]', false],
  ['128.0.0.1', false],
])('the host %s is this machine: %s', (host, is) => expect(isLoopback(host)).toBe(is));

import { describe, expect, it } from '@jest/globals';
import { Cipher } from '../../platform/crypto/cipher.js';
import { Environment } from '../../platform/env/environment.js';
import { isFromOwnConsole, type ConsoleSession } from './console-session.rules.js';
import { groupsInClaim, readGroupScopes, scopesOfGroups } from './group-scopes.rules.js';
import { cookieIn, SealedCookie } from './sealed-cookie.js';

const OURS = ['http://127.0.0.1:3000', 'https://pv.example'];
const OUR_SCOPES = ['users:read', 'admin'] as const;

describe('a request with the cookie', () => {
  it.each([
    ['GET', undefined, undefined, true],
    ['HEAD', undefined, undefined, true],
    ['GET', OURS[0], undefined, true],
    ['GET', 'https://pv.example.evil.example', '1', false],
    ['GET', 'null', '1', false],
    ['POST', OURS[0], '1', true],
    ['DELETE', OURS[1], '1', true],
    ['POST', OURS[0], undefined, false],
    ['POST', OURS[0], '0', false],
    ['POST', undefined, '1', false],
    ['PATCH', 'http://pv.example', '1', false],
    ['OPTIONS', undefined, undefined, false],
  ])('%s from the origin %s with X-Console %s is ours: %s', (method, origin, header, ours) => {
    expect(isFromOwnConsole(method, { origin, 'x-console': header }, OURS)).toBe(ours);
  });
});

describe('the cookie of a session', () => {
  it.each([
    ['pvo_console=a-_1', 'a-_1'],
    ['x=1; pvo_console=a; y=2', 'a'],
    ['x=1;pvo_console=a', 'a'],
    ['xpvo_console=a', undefined],
    ['pvo_console_flow=a', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('in %j is %j', (header, value) => expect(cookieIn(header, 'pvo_console')).toBe(value));

  it('can be read until its session is over', () => {
    const environment = new Environment();
    environment.ENCRYPTION_KEYS = [Buffer.alloc(32).toString('base64')];
    const settings = { name: 'c', path: '/', sameSite: 'Strict', maxAgeMs: 1_000, context: 'test' } as const;
    const cookie = new SealedCookie<ConsoleSession>(environment, new Cipher(environment), settings);
    const byKey = { kind: 'key', keyHash: 'aGFzaA==', expiresAt: 1_000 } as const;
    const ofUser = { kind: 'user', subject: 's', name: 'n', groups: ['g'], expiresAt: 1_000 } as const;
    for (const session of [byKey, ofUser]) {
      const request = { headers: { cookie: `c=${cookie.seal(session)}` } };
      expect(cookie.read(request, 999)).toEqual(session);
      expect(cookie.read(request, 1_000)).toBeNull();
    }
  });
});

describe('the scopes of groups', () => {
  it('are read from the configuration, and added up', () => {
    const read = readGroupScopes('Night shift=users:read; leads=admin,users:read', OUR_SCOPES);
    if ('unknown' in read) throw new Error('a scope is unknown');
    expect(scopesOfGroups(['leads', 'Night shift', 'other'], read)).toEqual(['admin', 'users:read']);
    expect(scopesOfGroups(['night shift'], read)).toEqual([]);
    expect(readGroupScopes('a=admin;b=root,x', OUR_SCOPES)).toEqual({ unknown: ['root', 'x'] });
  });

  it.each([
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    ['a', ['a']],
    [undefined, []],
    [[{ name: 'a' }, 7, 'b'], ['b']],
  ])('follow the claim %j', (claim, groups) => expect(groupsInClaim(claim)).toEqual(groups));
});

import { createServer } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { endServer, listen } from '../../test/setup/receivers/servers.js';
import { Cipher } from '../platform/crypto/cipher.js';
import { Environment } from '../platform/env/environment.js';
import { isFromOwnConsole, type ConsoleSession } from './console-session.rules.js';
import { groupsInClaim, readGroupScopes, scopesOfGroups } from './group-scopes.rules.js';
import { IdentityProvider } from './identity-provider.client.js';
import { identityOf, requireSoundToken } from './identity.rules.js';
import type { IdempotencyKeys } from '../idempotency/idempotency-keys.store.js';
import { signInFault } from './sign-in-fault.js';
import { cookieIn, cookieNames, SealedCookie } from './sealed-cookie.js';
import { SignInFlows } from './sign-in-flows.service.js';

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

  it('is found by the beginning of its name', () => {
    expect(cookieNames('a_1=x; b=a_; a_2=y', 'a_')).toEqual(['a_1', 'a_2']);
    expect(cookieNames(undefined, 'a_')).toEqual([]);
  });

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

describe('the sign-ins that a browser has begun', () => {
  it('are few, however many cookies a request has', () => {
    const environment = new Environment();
    environment.ENCRYPTION_KEYS = [Buffer.alloc(32).toString('base64')];
    const flows = new SignInFlows(environment, new Cipher(environment), {} as IdempotencyKeys);
    const written: string[] = [];
    const reply = {
      header: (_name: string, value: string) => written.push(value),
    } as unknown as FastifyReply;
    const request = (cookie: string) =>
      ({ headers: { cookie }, protocol: 'http', host: '127.0.0.1' }) as unknown as FastifyRequest;
    const flow = { state: 'state', nonce: 'nonce', pkceCodeVerifier: 'verifier' };
    flows.add(request('pvo_console_flow_a=x; pvo_console_flow_b=y'), reply, flow);
    expect(written).toEqual([expect.stringMatching(/^pvo_console_flow_state=[\w-]{50,}; Max-Age=600; /)]);
    written.length = 0;
    flows.add(request('pvo_console_flow_;'.repeat(800)), reply, flow);
    expect(written.length).toBeLessThanOrEqual(7);
  });
});

describe('the scopes of groups', () => {
  it('are read from the configuration, and added up', () => {
    const read = readGroupScopes('Night shift=users:read; leads=admin,users:read', OUR_SCOPES);
    if (read === null || 'unknown' in read) throw new Error('a scope is unknown');
    expect(scopesOfGroups(['leads', 'Night shift', 'other'], read)).toEqual(['admin', 'users:read']);
    expect(scopesOfGroups(['night shift'], read)).toEqual([]);
    expect(readGroupScopes('a=admin;b=root,x', OUR_SCOPES)).toEqual({ unknown: ['root', 'x'] });
  });

  it.each([
    ['CN=Ops,OU=PV=admin', [['CN=Ops,OU=PV', ['admin']]]],
    [
      'CN=Ops, OU=PV = users:read , admin;b=admin',
      [
        ['CN=Ops, OU=PV', ['users:read', 'admin']],
        ['b', ['admin']],
      ],
    ],
    ['{"CN=a;b,c=d": ["admin", "users:read"]}', [['CN=a;b,c=d', ['admin', 'users:read']]]],
    [' {"a": "admin"} ', [['a', ['admin']]]],
  ] as const)('are read of groups with any name: %s', (text, expected) => {
    const read = readGroupScopes(text, OUR_SCOPES);
    expect(read instanceof Map && [...read]).toEqual(expected);
  });

  it.each([
    '',
    '=admin',
    'a=',
    'a',
    'a=admin;',
    '{',
    '{}',
    '{"a": []}',
    '{"a": [7]}',
    '{"": ["admin"]}',
    '[]',
  ])('cannot be read from %j', (text) => expect(readGroupScopes(text, OUR_SCOPES)).toBeNull());

  it.each([
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    ['a', ['a']],
    [undefined, []],
    [[{ name: 'a' }, 7, 'b'], ['b']],
    [[], []],
    ['', []],
  ])('follow the claim %j', (claim, groups) => expect(groupsInClaim(claim)).toEqual(groups));
});

describe('a user of the identity provider', () => {
  const NOW = 1_800_000_000;
  it.each([
    [{ sub: 's'.repeat(255), iat: NOW }, null],
    [{ sub: 's', iat: NOW + 30 }, null],
    [{ sub: 's', iat: NOW - 300 }, null],
    [{ sub: 's', iat: NOW + 31 }, '"iat" is 31 s in the future'],
    [{ sub: 's', iat: NOW + 86_400 }, '"iat" is 86400 s in the future'],
    [{ sub: '', iat: NOW }, '"sub"'],
    [{ sub: ' \t', iat: NOW }, '"sub"'],
    [{ sub: 'a\nb', iat: NOW }, '"sub"'],
    [{ sub: 's'.repeat(256), iat: NOW }, '"sub"'],
  ])('with the token %j is refused for %s', (token, fault) => {
    const check = () => requireSoundToken(token, NOW, 30);
    if (fault === null) check();
    else expect(check).toThrow(fault);
  });

  it.each([
    [{ groups: ['a'] }, {}, ['a'], null],
    [{ groups: [] }, { groups: ['a'] }, ['a'], null],
    [{}, { groups: 'a' }, ['a'], null],
    [{ groups: ['a'] }, { groups: ['b', 'a'] }, ['a', 'b'], null],
    [{ groups: [] }, {}, [], null],
    [{ _claim_names: { groups: 'src1' }, _claim_sources: {} }, {}, [], '_claim_names'],
    [{ hasgroups: true }, {}, [], 'hasgroups'],
    [{ groups: [], hasgroups: 'true' }, {}, [], 'hasgroups'],
    [{}, { hasgroups: true }, [], 'hasgroups'],
    [{ hasgroups: true }, { groups: ['a'] }, ['a'], null],
    [{ _claim_names: { address: 'src1' } }, {}, [], null],
  ])(
    'with the token %j and the user info %j has the groups %j and lacks %s',
    (token, info, groups, leftOut) => {
      expect(identityOf('s', token, info)).toEqual({ subject: 's', name: 's', groups, leftOut });
    },
  );

  it('has the name that is not blank', () => {
    expect(identityOf('s', { name: ' ', preferred_username: 'ann' }, {}).name).toBe('ann');
  });
});

it('the fault of a sign-in has the status of the response that the library did not expect, and where it came from', () => {
  const response = Object.defineProperty(new Response('<html>', { status: 502 }), 'url', {
    value: 'https://idp.example/oauth/token?code=secret',
  });
  const fault = signInFault(new Error('unexpected HTTP response status code', { cause: response }));
  expect(fault).toBe(
    'Error: unexpected HTTP response status code; status 502 of https://idp.example/oauth/token',
  );
});

it('the fault of a sign-in has the first four errors of the chain, each claim and what the provider said once, redacted', () => {
  const chained = (depth: number): Error =>
    Object.assign(new Error(`error ${depth}`, { cause: depth < 5 ? chained(depth + 1) : undefined }), {
      ...{ error: 'denied', error_description: `ann@example.com ${depth % 2}`, claim: 'bob@example.com' },
    });
  expect(signInFault(chained(1))).toBe(
    'Error: error 1; Error: error 2; Error: error 3; Error: error 4; claim [email]; the provider says: denied; the provider says: [email] 1; the provider says: [email] 0',
  );
  const [error, error_description] = ['y '.repeat(900), 'z '.repeat(900)];
  expect(signInFault({ error, error_description })).toHaveLength(600);
  expect(signInFault({ error: '', claim: 5 })).toBe('');
});

it.each([
  [undefined, 'openid profile'],
  [['openid', 'profile'], 'openid profile'],
  [['openid', 'groups'], 'openid profile groups'],
])('a provider that lists the scopes %j is asked for %j', async (scopes_supported, scope) => {
  const server = createServer((_, response) => {
    const issuer = `http://127.0.0.1:${port}`;
    const metadata = { issuer, authorization_endpoint: `${issuer}/auth`, scopes_supported };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata));
  });
  const port = await listen(server);
  const provider = new IdentityProvider(
    Object.assign(new Environment(), {
      CONSOLE_OIDC_ISSUER: `http://127.0.0.1:${port}`,
      CONSOLE_OIDC_CLIENT_ID: 'us',
    }),
  );
  const { url } = await provider.begin('http://here.example/');
  expect(url.searchParams.get('scope')).toBe(scope);
  await endServer(server);
});

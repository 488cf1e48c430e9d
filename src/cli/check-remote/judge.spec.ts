import { describe, expect, it } from '@jest/globals';
import { readBody } from './ask-remote.js';
import { exitCodeOf, judge } from './judge.rules.js';
import {
  NOW,
  response,
  PAGE,
  at,
  proxy,
  LOST,
  token,
  user,
  session,
  start,
  inDays,
  tls,
  AS_DESCRIBED,
  read,
  drift,
  unserved,
  but,
  userBut,
  startBut,
} from './seen.example.js';
import { timeFormOf, type Seen, type SeenCall } from './seen.rules.js';

const jwt = (minutes: number) => ({
  ...{ isJwt: true, length: 900 },
  endsAt: new Date(NOW.getTime() + minutes * 60_000),
});

describe('what a check has found', () => {
  /** Returns what was seen by each check, with the level unless it fits. */
  const sawOf = (changed: Partial<Seen>) =>
    Object.fromEntries(
      judge({ ...AS_DESCRIBED, ...changed }).map(({ check, level, saw }) => [
        check,
        level === 'fits' ? saw : `${level}: ${saw}`,
      ]),
    );
  const OK = 'status 200 with a JSON object';
  const REFUSED = 'status 401 with a JSON object';
  const limited = response(200, '{}', { 'ratelimit-limit': '10' });
  const alone = (call: SeenCall): Partial<Seen> => ({
    token: { ...token, call },
    probe: call,
    refusals: { no_key: LOST, no_token: null, unknown_id: null },
    ...{ harm: null, job: null },
  });

  it('is told with what was seen, in the order of the calls', () => {
    const seen = {
      'network.name': 'api.test has 1 address',
      'network.proxy': 'no proxy is used',
      'network.tls': 'TLSv1.3, a trusted certificate until 2027-09-16',
      'network.latency': 'the slowest response took 20 ms',
      'network.clock': 'our clock differs from theirs by 0 s',
      'token.request': OK,
      'token.form': 'an opaque text of 43 characters',
      'token.expires_in': 'seconds, 14 days',
      'token.token_type': 'pvcurtailment',
      'token.fields': 'the same fields',
      'token.second': 'the first token is still accepted',
      probe: OK,
      'refusal.missing_key': REFUSED,
      'refusal.missing_token': REFUSED,
      'refusal.unknown_session': 'status 404 with a JSON object',
      'refusal.wrong_key': REFUSED,
      'refusal.wrong_secret': REFUSED,
      limits: 'no response names a limit',
      'user.request': OK,
      'user.fields': 'the same fields',
      'user.ean_digits': 'all 18 digits came back',
      'user.times': 'with Z, fractional seconds',
      'start.request': OK,
      'start.fields': 'the same fields',
      'session.times': 'with a numeric offset, whole seconds',
      'session.lifetime': '24 hours',
      'start.startUrl': 'such a URL',
      'read.path': 'both are served',
      'read.fields': 'the same fields',
      'read.same': 'both paths return the same',
      'read.flags': 'the state awaiting_owner',
    };
    expect(Object.entries(sawOf({}))).toEqual(Object.entries(seen));
  });

  it.each<[Partial<Seen>, Record<string, string | undefined>]>([
    [
      {
        token: { ...token, call: LOST, fault: 'x' },
        probe: response(502, PAGE, { 'content-type': 'text/html; charset=utf-8' }),
        refusals: { no_key: response(429, ''), no_token: null, unknown_id: null },
        ...{ harm: null, job: null },
      },
      {
        'token.request': 'fails: no response: connect ECONNREFUSED',
        'token.expires_in': undefined,
        'token.second': undefined,
        probe: 'fails: status 502 with text/html',
        'refusal.missing_key': 'differs: status 429 with an empty body',
        'refusal.missing_token': undefined,
        'refusal.unknown_session': undefined,
        'refusal.wrong_key': undefined,
        limits: 'differs: status 429',
        'user.request': undefined,
      },
    ],
    [but('token', { isStored: true }), { 'token.request': 'the valid token of our database was used' }],
    [but('token', { call: null }), { 'token.request': 'a token' }],
    [but('token', { fault: 'x' }), { 'token.request': `fails: ${OK}: x` }],
    [
      but('token', { call: response(300), fault: 'x' }),
      { 'token.request': 'fails: status 300 with a JSON object' },
    ],
    ...[undefined, null].map((expiresIn): [Partial<Seen>, Record<string, string>] => [
      but('token', { expiresIn }),
      { 'token.expires_in': 'differs: no expires_in' },
    ]),
    [but('token', { expiresIn: true }), { 'token.expires_in': 'differs: neither a timestamp nor a number' }],
    [but('token', { expiresIn: 119 }), { 'token.expires_in': 'differs: seconds, 119 seconds' }],
    [but('token', { expiresIn: 120 }), { 'token.expires_in': 'differs: seconds, 2 minutes' }],
    [but('token', { expiresIn: 7_199 }), { 'token.expires_in': 'seconds, 120 minutes' }],
    [but('token', { expiresIn: 172_799 }), { 'token.expires_in': 'seconds, 48 hours' }],
    [but('token', { expiresIn: '1209600' }), { 'token.expires_in': 'seconds in a string, 14 days' }],
    [
      userBut({ fault: 'x', drifts: [drift('missing_field', 'id')] }),
      { 'user.id': 'differs: the field is missing', 'user.fields': undefined },
    ],
    [but('token', { form: null }), { 'token.form': undefined }],
    [but('token', { form: jwt(14 * 24 * 60) }), { 'token.form': 'a JWT of 900 characters' }],
    [but('token', { tokenType: undefined }), { 'token.token_type': 'differs: no token_type' }],
    [but('token', { tokenType: 'BEARER' }), { 'token.token_type': 'differs: Bearer' }],
    [but('token', { tokenType: 'xbearer' }), { 'token.token_type': 'differs: another word' }],
    [but('token', { tokenType: 'bearerx' }), { 'token.token_type': 'differs: another word' }],
    [
      but('token', {
        drifts: [
          drift('new_field', 'a', null, 'string'),
          drift('missing_field', 'b'),
          drift('other_type', 'c', 'number', 'string'),
          drift('other_type', 'd', 'number'),
          drift('undescribed_flags', 'e'),
          drift('token_form', 'f', null, 'x'),
          drift('foreign_id', 'g'),
        ],
      }),
      {
        'token.fields': undefined,
        'token.a': 'differs: a further field: string',
        'token.b': 'differs: the field is missing',
        'token.c': 'differs: string',
        'token.d': 'differs: another type',
        'token.e': 'differs: flags that section 3 does not describe',
        'token.f': 'differs: x',
        'token.g': 'differs: something else',
      },
    ],
    [{ probe: response(200, '\ufeff\n {', {}) }, { probe: OK }],
    [{ probe: response(200, 'x{') }, { probe: 'status 200 with application/json' }],
    [userBut({ keepsDigits: null }), { 'user.ean_digits': undefined }],
    [userBut({ createdAt: 7 }), { 'user.times': undefined }],
    [
      but('job', { start: null, reads: null }),
      { 'user.request': OK, 'start.request': undefined, 'read.path': undefined },
    ],
    [startBut({ call: null }), { 'start.fields': 'the same fields', 'session.times': undefined }],
    [startBut({ startUrl: 7 }), { 'start.startUrl': 'such a URL' }],
    [read({ state: null }), { 'read.flags': undefined }],
    [read({ state: 'online' }), { 'read.flags': 'the state online' }],
    [but('job', { known: 0 }), { 'session.loss': undefined }],
    [
      { ...read({ listed: null }), job: { ...read({ listed: null }).job, known: 2 } },
      { 'session.loss': undefined },
    ],
    [
      but('network', { names: LOST, proxy: { ...proxy, fault: null } }),
      { 'network.name': 'api.test is not resolved', 'network.proxy': 'HTTPS_PROXY names proxy:3128' },
    ],
    [
      but('network', { isEncrypted: false, isLoopback: true, tls: null }),
      { 'network.tls': 'the connection is not encrypted' },
    ],
    [
      but('network', { isLoopback: true }),
      { 'network.tls': 'TLSv1.3, a trusted certificate until 2027-09-16' },
    ],
    [but('network', { tls: null }), { 'network.tls': undefined }],
    [
      but('network', { tls: { ...tls, protocol: null, validity: null } }),
      { 'network.tls': 'TLS, a trusted certificate until an unknown day' },
    ],
    [
      { ...alone(LOST), token: { ...token, isStored: true, call: null } },
      {
        'network.latency': undefined,
        'network.clock': undefined,
        probe: 'fails: no response: connect ECONNREFUSED',
        'refusal.missing_key': undefined,
      },
    ],
    [{ probe: response(200, '{}', {}, 5_000) }, { 'network.latency': 'the slowest response took 5000 ms' }],
    [
      { probe: response(200, '{}', {}, 10_000) },
      { 'network.latency': 'fails: the slowest response took 10000 ms' },
    ],
    [alone(at(5_000)), { 'network.clock': 'our clock differs from theirs by 5 s' }],
    [alone({ ...response(200), headers: {} }), { 'network.clock': 'no header Date' }],
    [{ probe: at(60_000) }, { 'network.clock': 'our clock differs from theirs by 0 s' }],
    ...[500, 429, 408, 300].map((status): [Partial<Seen>, Record<string, string>] => [
      { probe: response(status) },
      { probe: `fails: status ${status} with a JSON object` },
    ]),
    [{ probe: response(405) }, { probe: 'differs: status 405 with a JSON object' }],
    [{ probe: { ...response(200, 'x'), headers: {} } }, { probe: 'status 200 with a text' }],
    [but('harm', { wrong_key: LOST }), { 'refusal.wrong_key': 'differs: no response: connect ECONNREFUSED' }],
    ...[
      [400, 404],
      [404, 400],
    ].map(([one = 0, other = 0]): [Partial<Seen>, Record<string, string>] => [
      but('refusals', { unknown_id: { onboarding: response(one), user: response(other) } }),
      { 'refusal.unknown_session': `status ${one} with a JSON object; status ${other} with a JSON object` },
    ]),
    ...[
      but('token', { call: limited }),
      but('refusals', { unknown_id: { onboarding: response(404), user: limited } }),
      but('harm', { wrong_secret: limited }),
      but('job', { start: null, reads: null, user: { ...user, call: limited } }),
    ].map((changed): [Partial<Seen>, Record<string, string>] => [
      changed,
      { limits: 'differs: ratelimit-limit: 10' },
    ]),
    ...[
      ['2026-11-20T10:00:00Z', 'with Z, whole seconds'],
      ['2026-11-20T10:00:00.1+00:00', 'with a numeric offset, fractional seconds'],
    ].flatMap(([createdAt, form]): [Partial<Seen>, Record<string, string>][] => [
      [userBut({ createdAt }), { 'user.times': `differs: ${form}` }],
      [startBut({ createdAt }), { 'session.times': `differs: ${form}` }],
    ]),
    [startBut({ expiresAt: 'x' }), { 'session.lifetime': 'differs: unknown' }],
    [startBut({ createdAt: 7 }), { 'session.lifetime': 'differs: unknown' }],
    [startBut({ expiresAt: '2026-11-21T10:01:00+00:00' }), { 'session.lifetime': '24 hours' }],
    [startBut({ startUrl: 'x' }), { 'start.startUrl': 'such a URL' }],
    [
      but('job', { reads: { onboarding: unserved(404), user: session } }),
      {
        'read.path': 'differs: only the user path is served; the other: status 404 with a JSON object',
        'read.same': undefined,
      },
    ],
    [
      but('job', { reads: { onboarding: session, user: { ...unserved(404), call: null } } }),
      {
        'read.path': 'differs: only the onboarding path is served; the other: not asked',
        'read.same': undefined,
      },
    ],
    [but('token', { expiresIn: 3_600 }), { 'token.expires_in': 'seconds, 60 minutes' }],
    [but('token', { expiresIn: '2026-12-04T10:00:00Z' }), { 'token.expires_in': 'a timestamp, 14 days' }],
  ])('names what was seen: %#', (changed, saw) => {
    const found = sawOf(changed);
    for (const [check, text] of Object.entries(saw))
      expect([check, found[check]]).toStrictEqual([check, text]);
    expect(found).not.toHaveProperty('undefined');
  });

  it('fits if all is as described', () => {
    const findings = judge(AS_DESCRIBED);
    expect(findings.filter(({ level }) => level !== 'fits')).toEqual([]);
    expect(exitCodeOf(findings)).toBe(0);
  });

  it.each<[check: string, advice: string, changed: Partial<Seen>]>([
    ['fails network.name', 'Correct SCS_BASE_URL, or the name server', but('network', { names: LOST })],
    ['fails network.proxy', 'The proxy is at fault, not the remote service', but('network', { proxy })],
    [
      'fails network.tls',
      'SCS_CA_FILE=',
      but('network', { tls: { ...tls, fault: 'SELF_SIGNED_CERT_IN_CHAIN' } }),
    ],
    [
      'differs network.tls',
      'Ask the provider when it is renewed',
      but('network', { tls: { ...tls, validity: { validFrom: inDays(-30), validTo: inDays(10) } } }),
    ],
    ['differs network.tls', 'outdated', but('network', { tls: { ...tls, protocol: 'TLSv1.1' } })],
    ['fails network.tls', 'Correct SCS_BASE_URL', but('network', { tls: LOST })],
    ['differs network.tls', 'Use an https address', but('network', { isEncrypted: false, tls: null })],
    ['differs network.latency', 'SCS_TIMEOUT_MS=24000', { probe: response(200, '{}', {}, 6_000) }],
    ['fails network.latency', 'SCS_TIMEOUT_MS=44000', { probe: response(200, '{}', {}, 11_000) }],
    ['differs network.clock', 'Our clock is ahead', alone(at(6_000))],
    ['differs network.clock', 'Our clock is behind', alone(at(-6_000))],
    ['fails probe', 'only once the probe succeeds', { probe: response(503) }],
    ['fails probe', 'Set SCS_BASE_URL', { probe: response(302) }],
    ['differs probe', 'The probe is not served', { probe: response(404) }],
    ['fails token.request', 'Check SCS_API_KEY', but('token', { call: response(401), fault: 'status 401' })],
    ['fails token.request', 'Ask the provider', but('token', { fault: 'access_token is not a string' })],
    ['differs token.expires_in', 'Confirm it', but('token', { expiresIn: NOW.getTime() / 1_000 + 86_400 })],
    ['differs token.expires_in', '15 minutes', but('token', { expiresIn: undefined })],
    ['differs token.expires_in', 'renewed often', but('token', { expiresIn: 600 })],
    ['differs token.token_type', 'always sent as Bearer', but('token', { tokenType: 'Bearer' })],
    ['differs token.second', 'in one deployment only', but('harm', { earlierToken: response(401) })],
    ['differs refusal.missing_key', '`foreign_response`', but('refusals', { no_key: response(403, PAGE) })],
    ['differs refusal.missing_key', 'does not check the API key', but('refusals', { no_key: response(200) })],
    ['differs refusal.missing_token', 'Only a 401 renews', but('refusals', { no_token: response(404) })],
    ['differs refusal.wrong_key', 'opens the breaker', but('harm', { wrong_key: response(500) })],
    [
      'differs refusal.wrong_secret',
      'Tell the provider at once',
      but('harm', { wrong_secret: response(200) }),
    ],
    [
      'differs refusal.unknown_session',
      'after an hour',
      but('refusals', { unknown_id: { onboarding: response(403), user: response(403) } }),
    ],
    [
      'differs refusal.unknown_session',
      'never becomes `lost`',
      but('refusals', { unknown_id: { onboarding: response(400), user: response(400) } }),
    ],
    [
      'differs limits',
      'SCS_MAX_REQUESTS_PER_SECOND=',
      { probe: response(200, '{}', { 'ratelimit-limit': '10' }) },
    ],
    ['differs token.form', 'after the first 401', but('token', { form: jwt(60) })],
    [
      'differs token.form',
      'may refuse a header',
      but('token', { form: { isJwt: false, length: 4_001, endsAt: null } }),
    ],
    [
      'fails user.request',
      'The user exists there',
      userBut({ fault: 'x', drifts: [drift('other_type', 'id', 'UUID', 'number')] }),
    ],
    ['fails user.request', 'is not registered', userBut({ call: response(422), fault: 'x' })],
    [
      'fails start.request',
      'no owner gets a link',
      but('job', { start: { ...start, fault: 'x' }, reads: null }),
    ],
    [
      'differs user.createdAt',
      'not read as a time',
      userBut({ drifts: [drift('other_type', 'createdAt', 'timestamp', 'string')] }),
    ],
    [
      'fails user.request',
      'docs/registrations.md',
      userBut({ call: LOST, fault: 'registration 7 is uncertain' }),
    ],
    ['fails user.ean_digits', 'Register nobody', userBut({ keepsDigits: false })],
    [
      'differs user.phone',
      'Ignored',
      userBut({ drifts: [{ kind: 'new_field', field: 'phone', expected: null, found: 'string' }] }),
    ],
    ['differs user.times', 'for its zone', userBut({ createdAt: '2026-11-20T10:00:00' })],
    ['fails start.request', 'section 5.7', but('job', { start: unserved(401), reads: null })],
    ...[unserved(500), { ...unserved(500), call: LOST }, { ...unserved(401), call: null }].map(
      (lost): [string, string, Partial<Seen>] => [
        'fails start.request',
        'No session can be started',
        but('job', { start: lost, reads: null }),
      ],
    ),
    ['differs refusal.missing_key', 'try again later', but('refusals', { no_key: response(429) })],
    ['differs session.times', 'We read this form', startBut({ createdAt: '2026-11-20T10:00:00.5Z' })],
    [
      'differs session.lifetime',
      'starts another session',
      startBut({ expiresAt: '2026-11-27T10:00:00+00:00' }),
    ],
    ['differs start.startUrl', 'It works', startBut({ startUrl: 'https://x.test/flow/1' })],
    [
      'differs read.path',
      'SCS_SESSION_PATH=user',
      but('job', { reads: { onboarding: unserved(404), user: session } }),
    ],
    [
      'fails read.request',
      'nobody is ever seen online',
      but('job', { reads: { onboarding: unserved(404), user: unserved(405) } }),
    ],
    [
      'differs read.same',
      'Use one path only',
      but('job', { reads: { onboarding: session, user: { ...session, facts: 'b' } } }),
    ],
    ['differs read.flags', 'Rely on `online` alone', read({ state: 'awaiting_installation' })],
    ['differs read.flags', 'Ask the provider what the flags', read({ state: 'unrecognised' })],
    [
      'fits session.loss',
      'A loss shows',
      but('job', { known: 2, reads: { onboarding: { ...session, listed: 1 }, user: session } }),
    ],
    [
      'fits session.loss',
      'WATCH_ONLINE_DAYS=0',
      but('job', { known: 1, reads: { onboarding: { ...session, listed: 1 }, user: session } }),
    ],
    ['differs read.startUrl', 'may act for the owner', read({ startUrl: 'https://x.test/pv-onboarding/1' })],
  ])('%s, with the advice: %s', (check, advice, changed) => {
    const findings = judge({ ...AS_DESCRIBED, ...changed });
    const texts = findings.map((each) => `${each.level} ${each.check}: ${each.means} ${each.setting ?? ''}`);
    expect(texts).toContainEqual(
      expect.stringMatching(new RegExp(`^${check}: .*${advice.replace(/[.`]/g, String.raw`\$&`)}`)),
    );
    const [level = ''] = check.split(' ', 1);
    expect(exitCodeOf(findings)).toBe({ fails: 1, differs: 3, fits: 0 }[level]);
  });
});

it.each([
  ['2026-11-20T10:00:00.120Z', { fractionDigits: 3, zone: 'Z' }],
  ['2026-11-20T10:00:00+0100', { fractionDigits: 0, zone: 'offset' }],
  ['2026-11-20T10:00:00', { fractionDigits: 0, zone: 'none' }],
  ['soon', null],
  [7, null],
])('the form of the time %j is %j', (value, form) => expect(timeFormOf(value)).toEqual(form));

it('a response other than a success has no fields', () => {
  const faultOf = (status: number) =>
    readBody({ status, headers: {}, body: '{}', ms: 1, receivedAt: NOW }, {}, (fields) => fields).fault;
  expect([faultOf(299), faultOf(300)]).toEqual([null, 'status 300']);
});

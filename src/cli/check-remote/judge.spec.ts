import { describe, expect, it } from '@jest/globals';
import { exitCodeOf, judge } from './judge.rules.js';
import { linesOf, reportOf, wrap } from './present.rules.js';
import { recordingOf } from './recording.rules.js';
import { type Seen, type SeenCall, type SeenSession, type SeenUser, timeFormOf } from './seen.rules.js';

const NOW = new Date('2026-11-20T10:00:00.000Z');
const DAY_MS = 86_400_000;

const response = (status: number, body = '{}', headers: Record<string, string> = {}, ms = 20) =>
  ({
    status,
    body,
    headers: { 'content-type': 'application/json', date: NOW.toUTCString(), ...headers },
    ms,
    receivedAt: NOW,
  }) satisfies SeenCall;
const PAGE = '<html></html>';
const AHEAD = { ...response(200), receivedAt: new Date(NOW.getTime() + 60_000) };
const LOST = { lost: 'connect ECONNREFUSED' };

const token: Seen['token'] = {
  call: response(200),
  drifts: [],
  fault: null,
  expiresIn: 1_209_600,
  tokenType: 'pvcurtailment',
  receivedAt: NOW,
  isStored: false,
};
const user: SeenUser = {
  ...{ call: response(200), drifts: [], fault: null, keepsDigits: true },
  createdAt: '2026-11-20T10:00:00.120Z',
};
const session: SeenSession = {
  ...{ call: response(200), drifts: [], fault: null },
  createdAt: '2026-11-20T10:00:00+00:00',
  expiresAt: '2026-11-21T10:00:00+00:00',
  ...{ startUrl: undefined, state: 'awaiting_owner', listed: 0, facts: 'a' },
};
const start = { ...session, startUrl: 'https://onboarding.test/pv-onboarding/abc' };
const inDays = (days: number) => new Date(NOW.getTime() + days * DAY_MS).toUTCString();
const tls = {
  protocol: 'TLSv1.3',
  fault: null,
  validity: { validFrom: inDays(-30), validTo: inDays(300) },
};
const network: Seen['network'] = {
  ...{ host: 'api.test', isEncrypted: true, isLoopback: false, names: 1 },
  ...{ proxy: null, tls },
};
const refusals: Seen['refusals'] = {
  no_key: response(401),
  no_token: response(401),
  unknown_id: { onboarding: response(404), user: response(404) },
};
const harm = { wrong_key: response(401), wrong_secret: response(401), earlierToken: response(404) };
const job = { user, start, known: 0, reads: { onboarding: session, user: session } };
const AS_DESCRIBED: Seen = {
  ...{ timeoutMs: 10_000, at: NOW, network, probe: response(200), token, refusals, harm, job },
};

const read = (changed: Partial<SeenSession>) => ({
  job: { ...job, reads: { onboarding: { ...session, ...changed }, user: { ...session, ...changed } } },
});
const unserved = (status: number): SeenSession => ({
  ...session,
  call: response(status),
  fault: `status ${status}`,
});

describe('a recording', () => {
  it('has no id of the service in a refusal, however it is written', () => {
    const id = '7f1f1b0e-5c0a-4d5b-9f57-3d2f3a9f6b11';
    const refused = response(401, `{"ids":["${id}","${id.toUpperCase()}"]}`);
    const recorded = recordingOf(
      { ...AS_DESCRIBED, refusals: { ...refusals, no_key: refused } },
      (text) => text,
    );
    const body = '{"ids":["00000000-0000-4000-8000-000000000000","00000000-0000-4000-8000-000000000000"]}';
    expect(recorded.refusals).toMatchObject({ no_key: { status: 401, body } });
  });
});

describe('what a check has found', () => {
  it('fits if all is as described', () => {
    const findings = judge(AS_DESCRIBED);
    expect(findings.filter(({ level }) => level !== 'fits')).toEqual([]);
    expect(exitCodeOf(findings)).toBe(0);
  });

  it.each<[string, Partial<Seen>, string, string]>([
    [
      'a name that is not resolved',
      { network: { ...network, names: LOST } },
      'fails network.name',
      'Correct SCS_BASE_URL, or the name server',
    ],
    [
      'a proxy that refuses',
      {
        network: {
          ...network,
          proxy: { variable: 'HTTPS_PROXY', address: 'proxy:3128', fault: 'status 407', isAtFault: true },
        },
      },
      'fails network.proxy',
      'The proxy is at fault, not the remote service',
    ],
    [
      'an unknown authority',
      { network: { ...network, tls: { ...tls, fault: 'SELF_SIGNED_CERT_IN_CHAIN' } } },
      'fails network.tls',
      'SCS_CA_FILE=',
    ],
    [
      'a certificate that ends soon',
      { network: { ...network, tls: { ...tls, validity: { validFrom: inDays(-30), validTo: inDays(10) } } } },
      'differs network.tls',
      'Ask the provider when it is renewed',
    ],
    [
      'an outdated protocol',
      { network: { ...network, tls: { ...tls, protocol: 'TLSv1.1' } } },
      'differs network.tls',
      'outdated',
    ],
    ['no handshake', { network: { ...network, tls: LOST } }, 'fails network.tls', 'Correct SCS_BASE_URL'],
    [
      'no encryption',
      { network: { ...network, isEncrypted: false, tls: null } },
      'differs network.tls',
      'Use an https address',
    ],
    [
      'slow responses',
      { probe: response(200, '{}', {}, 6_000) },
      'differs network.latency',
      'SCS_TIMEOUT_MS=24000',
    ],
    [
      'responses beyond the timeout',
      { probe: response(200, '{}', {}, 11_000) },
      'fails network.latency',
      'SCS_TIMEOUT_MS=44000',
    ],
    [
      'a clock that is ahead',
      {
        token: { ...token, call: AHEAD },
        probe: AHEAD,
        refusals: { no_key: LOST, no_token: null, unknown_id: null },
        harm: null,
        job: null,
      },
      'differs network.clock',
      'Our clock is ahead',
    ],
    ['a probe that fails', { probe: response(503) }, 'fails probe', 'only once the probe succeeds'],
    ['a probe that redirects', { probe: response(302) }, 'fails probe', 'Set SCS_BASE_URL'],
    ['a probe that is not served', { probe: response(404) }, 'differs probe', 'The probe is not served'],
    [
      'a rejected token request',
      { token: { ...token, call: response(401), fault: 'status 401' } },
      'fails token.request',
      'Check SCS_API_KEY',
    ],
    [
      'a token in another shape',
      { token: { ...token, fault: 'access_token is not a string' } },
      'fails token.request',
      'Ask the provider',
    ],
    [
      'another form of expires_in',
      { token: { ...token, expiresIn: NOW.getTime() / 1_000 + 86_400 } },
      'differs token.expires_in',
      'Confirm it',
    ],
    [
      'no expires_in',
      { token: { ...token, expiresIn: undefined } },
      'differs token.expires_in',
      '15 minutes',
    ],
    ['a short token', { token: { ...token, expiresIn: 600 } }, 'differs token.expires_in', 'renewed often'],
    [
      'another token_type',
      { token: { ...token, tokenType: 'Bearer' } },
      'differs token.token_type',
      'always sent as Bearer',
    ],
    [
      'a second token that ends the first',
      { harm: { ...harm, earlierToken: response(401) } },
      'differs token.second',
      'in one deployment only',
    ],
    [
      'a missing key that is a page',
      { refusals: { ...refusals, no_key: response(403, PAGE) } },
      'differs refusal.missing_key',
      '`foreign_response`',
    ],
    [
      'a missing key that is accepted',
      { refusals: { ...refusals, no_key: response(200) } },
      'differs refusal.missing_key',
      'does not check the API key',
    ],
    [
      'a missing token that is not found',
      { refusals: { ...refusals, no_token: response(404) } },
      'differs refusal.missing_token',
      'Only a 401 renews',
    ],
    [
      'a wrong key that is an outage',
      { harm: { ...harm, wrong_key: response(503) } },
      'differs refusal.wrong_key',
      'opens the breaker',
    ],
    [
      'a wrong secret that is accepted',
      { harm: { ...harm, wrong_secret: response(200) } },
      'differs refusal.wrong_secret',
      'Tell the provider at once',
    ],
    [
      'an unknown session that is refused',
      { refusals: { ...refusals, unknown_id: { onboarding: response(403), user: response(403) } } },
      'differs refusal.unknown_session',
      'after an hour',
    ],
    [
      'an unknown session that is a bad request',
      { refusals: { ...refusals, unknown_id: { onboarding: response(400), user: response(400) } } },
      'differs refusal.unknown_session',
      'never becomes `lost`',
    ],
    [
      'a limit',
      { probe: response(200, '{}', { 'ratelimit-limit': '10' }) },
      'differs limits',
      'SCS_MAX_REQUESTS_PER_SECOND=',
    ],
    [
      'a registration whose response is lost',
      { job: { ...job, user: { ...user, call: LOST, fault: 'registration 7 is uncertain' } } },
      'fails user.request',
      'docs/registrations.md',
    ],
    [
      'a rounded EAN',
      { job: { ...job, user: { ...user, keepsDigits: false } } },
      'fails user.ean_digits',
      'Register nobody',
    ],
    [
      'a further field',
      {
        job: {
          ...job,
          user: { ...user, drifts: [{ kind: 'new_field', field: 'phone', expected: null, found: 'string' }] },
        },
      },
      'differs user.phone',
      'Ignored',
    ],
    [
      'user times without a zone',
      { job: { ...job, user: { ...user, createdAt: '2026-11-20T10:00:00' } } },
      'differs user.times',
      'for its zone',
    ],
    [
      'a start that the token does not allow',
      { job: { ...job, start: unserved(401), reads: null } },
      'fails start.request',
      'section 5.7',
    ],
    [
      'session times with Z',
      { job: { ...job, start: { ...start, createdAt: '2026-11-20T10:00:00.5Z' } } },
      'differs session.times',
      'We read this form',
    ],
    [
      'a longer lifetime',
      { job: { ...job, start: { ...start, expiresAt: '2026-11-27T10:00:00+00:00' } } },
      'differs session.lifetime',
      'starts another session',
    ],
    [
      'another startUrl',
      { job: { ...job, start: { ...start, startUrl: 'https://x.test/flow/1' } } },
      'differs start.startUrl',
      'It works',
    ],
    [
      'one path',
      { job: { ...job, reads: { onboarding: unserved(404), user: session } } },
      'differs read.path',
      'SCS_SESSION_PATH=user',
    ],
    [
      'no path',
      { job: { ...job, reads: { onboarding: unserved(404), user: unserved(405) } } },
      'fails read.request',
      'nobody is ever seen online',
    ],
    [
      'paths that differ',
      { job: { ...job, reads: { onboarding: session, user: { ...session, facts: 'b' } } } },
      'differs read.same',
      'Use one path only',
    ],
    [
      'updatedAt that moves',
      read({ state: 'awaiting_installation' }),
      'differs read.flags',
      'Rely on `online` alone',
    ],
    [
      'flags that are not described',
      read({ state: 'unrecognised' }),
      'differs read.flags',
      'Ask the provider what the flags',
    ],
    [
      'an inverter that has left the session',
      { job: { ...job, known: 2, reads: { onboarding: { ...session, listed: 1 }, user: session } } },
      'fits session.loss',
      'A loss shows',
    ],
    [
      'inverters that are all still there',
      { job: { ...job, known: 1, reads: { onboarding: { ...session, listed: 1 }, user: session } } },
      'fits session.loss',
      'WATCH_ONLINE_DAYS=0',
    ],
    [
      'a link in a read',
      read({ startUrl: 'https://x.test/pv-onboarding/1' }),
      'differs read.startUrl',
      'may act for the owner',
    ],
  ])('names %s, with the advice', (_what, changed, check, advice) => {
    const findings = judge({ ...AS_DESCRIBED, ...changed });
    const texts = findings.map((each) => `${each.level} ${each.check}: ${each.means} ${each.setting ?? ''}`);
    expect(texts).toContainEqual(
      expect.stringMatching(new RegExp(`^${check}: .*${advice.replace(/[.`]/g, String.raw`\$&`)}`)),
    );
    const [level = ''] = check.split(' ', 1);
    expect(exitCodeOf(findings)).toBe({ fails: 1, differs: 3, fits: 0 }[level]);
  });

  it('is a table for people, and a page that names only what differs', () => {
    const findings = judge({ ...AS_DESCRIBED, token: { ...token, tokenType: 'a|b' } });
    const lines = linesOf(findings, ['why not']);
    expect(lines.filter((line) => line.startsWith('~'))).toHaveLength(1);
    expect(lines).toContain('  - why not');
    const page = reportOf(findings, [], { at: NOW, version: '1', host: 'api.test' });
    expect(page.match(/^\| token/gm)).toHaveLength(1);
    expect(page).not.toContain('refusal.missing_key');
    expect(wrap('a bcd ef', 4)).toEqual(['a', 'bcd', 'ef']);
  });
});

it.each([
  ['2026-11-20T10:00:00.120Z', { fractionDigits: 3, zone: 'Z' }],
  ['2026-11-20T10:00:00+0100', { fractionDigits: 0, zone: 'offset' }],
  ['2026-11-20T10:00:00', { fractionDigits: 0, zone: 'none' }],
  ['soon', null],
  [7, null],
])('the form of the time %j is %j', (value, form) => expect(timeFormOf(value)).toEqual(form));

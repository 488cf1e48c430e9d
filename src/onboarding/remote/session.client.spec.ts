import { describe, expect, it } from '@jest/globals';
import type { RemoteResponse } from '../../remote/outcome.rules.js';
import { readObject } from '../../remote/wire/read-field.js';
import { UnreadableResponse } from '../../remote/wire/read-response.js';
import {
  recordableBody,
  readReadSessionResponse,
  readSessionRequest,
  readStartSessionResponse,
  statusOfSession,
} from './session.client.js';

const ID = '0d6f6c3e-8a35-4b39-9f4e-2a8f5f9f3f10';
const STARTED = {
  sessionId: ID,
  finished: false,
  active: true,
  startUrl: 'https://onboarding.example/pv-onboarding/secret-token',
  createdAt: '2026-11-20T10:00:00+01:00',
  updatedAt: '2026-11-20T10:00:00+01:00',
  expiresAt: '2026-11-21T10:00:00+01:00',
};
const { startUrl: _, ...READ } = {
  ...STARTED,
  expired: false,
  inverters: [{ id: ID.toUpperCase(), model: 'unknown field' }],
};
const responseOf = (body: unknown): RemoteResponse => ({
  status: 200,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const readStart = (response: RemoteResponse) => readStartSessionResponse(readObject(response.body), response);
const readRead = ({ body }: RemoteResponse, id: string) => readReadSessionResponse(readObject(body), id);

describe('the response to a start', () => {
  it('is read with absent flags as null, and recorded without its startUrl', () => {
    const started = readStart(responseOf(STARTED));
    expect(started).toMatchObject({
      sessionId: ID,
      finished: false,
      active: true,
      expired: null,
      inverters: null,
      startUrl: STARTED.startUrl,
    });
    expect(started.createdAt.toISOString()).toBe('2026-11-20T09:00:00.000Z');
    expect(started.response.body).not.toContain('secret-token');
  });

  it.each([
    ['startUrl', { ...STARTED, startUrl: 'javascript:alert(1)' }],
    ['startUrl', { ...STARTED, startUrl: undefined }],
    ['finished', { ...STARTED, finished: 'false' }],
    ['updatedAt', { ...STARTED, updatedAt: '2026-11-20T10:00:00' }],
    ['sessionId', { ...STARTED, sessionId: '1' }],
  ])('is unreadable with a wrong %s, and the reason names the field but no value', (field, body) => {
    const read = () => readStart(responseOf(body));
    expect(read).toThrow(UnreadableResponse);
    expect(read).toThrow(field);
    expect(read).not.toThrow('alert');
  });
});

describe('the startUrl of a start', () => {
  const read = (startUrl: string) => readStart(responseOf({ ...STARTED, startUrl }));

  it.each([
    'https://onboarding.example/pv-onboarding/token',
    'http://127.0.0.1:4010/pv-onboarding/token?to=a@b.example#c@d',
    'HTTPS://ONBOARDING.EXAMPLE/%20%0a',
    'https://zonne-energie.example/pv-onboarding/é',
  ])('is accepted unchanged: %s', (startUrl) => expect(read(startUrl).startUrl).toBe(startUrl));

  it.each([
    'https://canary.example/a\nb',
    'https://canary.example/a\tb',
    'java\nscript:canary',
    '\u001bhttps://canary.example/',
    'https://canary.example/\u007f',
    'https://canary.example/\u0085',
    'https://canary.example/\u202e',
    'https://canary.example/a b',
    ' https://canary.example/',
    'https://canary.example/\u00a0',
    'https://canary:secret@onboarding.example/',
    'https://canary@onboarding.example/',
    'https://@canary.example/',
    'https:////canary:secret@onboarding.example/',
    'https:canary.example',
    'https://canary.example:99999/',
    'https://onboarding.example\\@canary.example/',
    'ftp://canary.example/',
  ])('is unreadable as %j, and the reason names the field but no value', (startUrl) => {
    expect(() => read(startUrl)).toThrow(UnreadableResponse);
    expect(() => read(startUrl)).toThrow(/^startUrl (is|holds) [\w ,()]+$/);
    expect(() => read(startUrl)).not.toThrow('canary');
  });

  it('is unreadable beyond 4,096 characters', () => {
    const urlOf = (length: number) => 'https://canary.example/'.padEnd(length, 'x');
    expect(read(urlOf(4_096)).startUrl).toBe(urlOf(4_096));
    expect(() => read(urlOf(4_097))).toThrow(UnreadableResponse);
  });
});

describe('the response to a read', () => {
  it('is read with its inverters, each once', () => {
    const body = { ...READ, inverters: [{ id: ID }, { id: ID.toUpperCase() }] };
    expect(readRead(responseOf(body), ID)).toMatchObject({ expired: false, inverters: [ID] });
  });

  it.each([null, undefined])('is read with inverters %s as no statement about inverters', (inverters) => {
    expect(readRead(responseOf({ ...READ, inverters }), ID).inverters).toBeNull();
  });

  it('R23: is unreadable when it is about another session', () => {
    const other = { ...READ, sessionId: '0d6f6c3e-8a35-4b39-9f4e-2a8f5f9f3f11' };
    expect(() => readRead(responseOf(other), ID)).toThrow(UnreadableResponse);
  });

  it('is recorded byte for byte, except for a byte order mark and for a startUrl at any depth', () => {
    expect(recordableBody('\ufeff{ "n": 1.0 }', {})).toBe('{ "n": 1.0 }');
    const body = '{"a":1,"start\\u0055rl":"x","links":[{"startUrl":"x"}]}';
    expect(recordableBody(body, readObject(body))).toBe('{"a":1,"links":[{}]}');
  });

  it('is recorded without its startUrl under another name', () => {
    const { startUrl } = STARTED;
    const body = {
      ...STARTED,
      start_url: startUrl,
      text: `open ${startUrl}`,
      link: 'https://x.example/pv-onboarding/t',
      login: 'https://id.example/?to=https%3A%2F%2Fx.example%2Fpv-onboarding%2Ft',
      again: 'https://id.example/?to=https%253A%252F%252Fx.example%252FPV-Onboarding%252Ft',
      nested: String.raw`{"url":"https:\/\/x.example\/pv-onboarding\/t"}`,
      flowToken: 't',
      'https://x.example/pv-onboarding/t': true,
    };
    expect(recordableBody(JSON.stringify(body), body)).toBe(
      JSON.stringify({ ...STARTED, startUrl: undefined }),
    );
    const short = { startUrl: 'https://x.example/t', links: { flow: ['https://x.example/t'] }, n: 1 };
    expect(recordableBody(JSON.stringify(short), short)).toBe('{"links":{"flow":[null]},"n":1}');
  });

  it.each(['', 'null', '[]', '<html></html>', '{"inverters":{}}', '['.repeat(50_000)])(
    'R23: is unreadable as %.20s',
    (body) => {
      expect(() => readRead(responseOf(body), ID)).toThrow(UnreadableResponse);
    },
  );
});

it('requests a session by either path shape', () => {
  const session = { sessionId: ID, userId: 'u' };
  expect(readSessionRequest('onboarding', session).path).toBe(`/api/v1/ssa/onboarding/pv/${ID}`);
  expect(readSessionRequest('user', session).path).toBe(`/api/v1/ssa/users/u/pv/onboarding-sessions/${ID}`);
});

it.each([
  [404, 403, false, 403],
  [403, 404, false, 403],
  [404, 403, true, 404],
  [403, 404, true, 403],
  [405, 404, true, 404],
  [404, 501, false, 404],
  [403, 405, false, 403],
  [405, 501, false, 501],
])('of the statuses %i and %i of two paths (the first has worked: %s), %i is about the session', (...of) => {
  const [first, second, firstHasWorked, status] = of;
  expect(statusOfSession(first, second, firstHasWorked)).toBe(status);
});

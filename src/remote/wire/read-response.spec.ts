import { describe, expect, it } from '@jest/globals';
import type { Outcome, RemoteResponse, Sent } from '../outcome.rules.js';
import { outcomeOf, UnreadableResponse } from './read-response.js';

const responded = (status: number, rest: Partial<RemoteResponse> = {}): Sent => ({
  kind: 'response',
  response: { status, body: '{}', ...rest },
});
const outcome = (sent: Sent): Outcome<string> => outcomeOf(sent, () => 'value');

describe('outcomeOf', () => {
  it.each([200, 201, 202, 204, 299])('reads a %i', (status) =>
    expect(outcome(responded(status))).toEqual({ kind: 'done', value: 'value' }),
  );

  it.each([400, 402, 404, 405, 409, 410, 413, 418, 422, 451, 498])(
    'reads %i as a refusal of the request',
    (status) =>
      expect(outcome(responded(status, { body: '{"a":1}' }))).toEqual({
        kind: 'rejected',
        status,
        detail: '{"a":1}',
      }),
  );

  it.each(['{}', ' \r\n{"a":1}', '\ufeff{}', '\ufeff {'])(
    'reads a 4xx with the body %j as of the service',
    (body) => expect(outcome(responded(404, { body }))).toMatchObject({ kind: 'rejected' }),
  );

  it.each([
    [399, 'ambiguous'],
    [401, 'rejected'],
    [408, 'ambiguous'],
    [499, 'ambiguous'],
    [429, 'not_sent'],
    [500, 'ambiguous'],
  ])('reads a %i as %s, whatever its body', (status, kind) => {
    const read = outcome(responded(status, { body: 'no object' }));
    expect(read.kind).toBe(kind);
    expect(read).not.toMatchObject({ reason: 'foreign_response' });
  });

  it.each([
    ['text/plain', 'default backend - 404'],
    ['text/html', '<html><h1>404 Not Found</h1></html>'],
    ['text/css', 'p { color: red }'],
    ['application/json', ''],
    ['application/json', '"not found"'],
    ['application/json', '[]'],
    ['application/json', 'null'],
  ])('R81: reads a 4xx of %s with the body %s as nothing about the request', (contentType, body) => {
    for (const status of [400, 403, 404, 405, 410, 422]) {
      const shown = `status ${status}, ${contentType}: ${body || 'an empty body'}`;
      const refused = responded(status, { contentType, body });
      expect(outcome(refused)).toEqual({ kind: 'not_sent', reason: 'foreign_response', detail: shown });
    }
    const familiar = responded(404, { contentType, body, isFamiliar: true });
    expect(outcome(familiar)).toMatchObject({ kind: 'rejected', status: 404 });
  });

  it.each([401, 403])(
    'reads %i as a refusal of the call: only several calls show what it is about',
    (status) => expect(outcome(responded(status))).toMatchObject({ kind: 'rejected', status }),
  );

  it('reads 429 as a refusal that may pass', () =>
    expect(outcome(responded(429, { retryAfterMs: 7 }))).toEqual({
      kind: 'not_sent',
      reason: 'rate_limited',
      retryAfterMs: 7,
    }));

  it.each([100, 101, 300, 301, 302, 304, 307, 308, 408, 499, 500, 502, 503, 504, 599, 600, 999])(
    'reads %i as ambiguous',
    (status) =>
      expect(outcome(responded(status))).toEqual({
        kind: 'ambiguous',
        reason: `responded with status ${status}`,
        status,
      }),
  );

  it('returns the outcome of a call without a response', () => {
    const lost: Sent = { kind: 'ambiguous', reason: 'connection lost' };
    expect(outcome(lost)).toBe(lost);
  });

  it('is unreadable if the body has another shape or was not read', () => {
    const read = () => {
      throw new UnreadableResponse('sessionId is not a UUID');
    };
    expect(outcomeOf(responded(201), read)).toEqual({
      kind: 'unreadable',
      status: 201,
      reason: 'sessionId is not a UUID',
    });
    expect(outcome(responded(200, { bodyFault: 'too large' }))).toEqual({
      kind: 'unreadable',
      status: 200,
      reason: 'too large',
    });
    expect(outcome(responded(422, { body: '', bodyFault: 'too large' }))).toMatchObject({
      kind: 'not_sent',
      detail: 'status 422, no content type: too large',
    });
  });

  it('does not hide a bug of a reader', () => {
    const bug = () => {
      throw new TypeError('bug');
    };
    expect(() => outcomeOf(responded(200), bug)).toThrow(TypeError);
  });

  it('says so when a refusal gives no explanation', () =>
    expect(outcome(responded(422, { body: '', isFamiliar: true }))).toMatchObject({
      detail: 'the service gave no explanation',
    }));

  it('describes a refusal in at most 300 characters, without secrets and control characters', () => {
    const body = `{Bearer abcdef \u0000\u001b[2J${'x '.repeat(500)}`;
    const refused = outcome(responded(400, { body }));
    expect(refused).toMatchObject({
      kind: 'rejected',
      detail: expect.stringMatching(/^\{Bearer \[redacted\] \[2Jx/),
    });
    expect(refused.kind === 'rejected' && refused.detail.length).toBe(300);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { Outcome, RemoteResponse, Sent } from '../outcome.rules.js';
import { outcomeOf, UnreadableResponse } from './read-response.js';

const answered = (status: number, rest: Partial<RemoteResponse> = {}): Sent => ({
  kind: 'response',
  response: { status, body: '{}', ...rest },
});
const outcome = (sent: Sent): Outcome<string> => outcomeOf(sent, () => 'value');

describe('outcomeOf', () => {
  it.each([200, 201, 202, 204, 299])('reads a %i', (status) =>
    expect(outcome(answered(status))).toEqual({ kind: 'done', value: 'value' }),
  );

  it.each([400, 402, 404, 405, 409, 410, 413, 418, 422, 451, 499])(
    'takes %i for a refusal of the request',
    (status) =>
      expect(outcome(answered(status, { body: 'no' }))).toEqual({ kind: 'rejected', status, detail: 'no' }),
  );

  it.each([401, 403])('takes %i for a refusal of the credentials', (status) =>
    expect(outcome(answered(status))).toEqual({ kind: 'not_sent', reason: 'credentials_rejected' }),
  );

  it('takes 429 for a refusal of the moment', () =>
    expect(outcome(answered(429, { retryAfterMs: 7 }))).toEqual({
      kind: 'not_sent',
      reason: 'rate_limited',
      retryAfterMs: 7,
    }));

  it.each([100, 101, 300, 301, 302, 304, 307, 308, 408, 500, 502, 503, 504, 599, 600, 999])(
    'does not know what %i did',
    (status) =>
      expect(outcome(answered(status))).toEqual({
        kind: 'ambiguous',
        reason: `responded with status ${status}`,
      }),
  );

  it('passes on what was not answered', () => {
    const lost: Sent = { kind: 'ambiguous', reason: 'connection lost' };
    expect(outcome(lost)).toBe(lost);
  });

  it('is unreadable when the reader finds another shape, or there is no body to read', () => {
    const read = () => {
      throw new UnreadableResponse('sessionId is not a UUID');
    };
    expect(outcomeOf(answered(201), read)).toEqual({
      kind: 'unreadable',
      status: 201,
      reason: 'sessionId is not a UUID',
    });
    expect(outcome(answered(200, { bodyFault: 'too large' }))).toEqual({
      kind: 'unreadable',
      status: 200,
      reason: 'too large',
    });
    expect(outcome(answered(422, { bodyFault: 'too large' }))).toMatchObject({
      kind: 'rejected',
      detail: 'too large',
    });
  });

  it('hides no bug of a reader', () => {
    const bug = () => {
      throw new TypeError('bug');
    };
    expect(() => outcomeOf(answered(200), bug)).toThrow(TypeError);
  });

  it('says so when a refusal gives no explanation', () =>
    expect(outcome(answered(422, { body: '' }))).toMatchObject({
      detail: 'the service gave no explanation',
    }));

  it('tells of a refusal at most 300 characters, without secrets and control characters', () => {
    const body = `Bearer abcdef \u0000\u001b[2J${'x '.repeat(500)}`;
    const refused = outcome(answered(400, { body }));
    expect(refused).toMatchObject({
      kind: 'rejected',
      detail: expect.stringMatching(/^Bearer \[redacted\] \[2Jx/),
    });
    expect(refused.kind === 'rejected' && refused.detail.length).toBe(300);
  });
});

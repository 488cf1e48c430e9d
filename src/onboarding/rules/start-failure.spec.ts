import { describe, expect, it } from '@jest/globals';
import { failureOf, foreignFailure, notStored, waitAfterFailures } from './start-failure.rules.js';

describe('the failure of a start', () => {
  it('does not call a response with a status a lost response', () => {
    const { error } = failureOf({ kind: 'ambiguous', reason: 'responded with status 503', status: 503 });
    expect(error).toMatch(/responded with status 503, which does not say whether it started a session$/);
    expect(error).not.toContain('lost');
  });

  it('says why a response was lost', () =>
    expect(failureOf({ kind: 'ambiguous', reason: 'read ECONNRESET' }).error).toBe(
      'it was sent, but its response was lost (read ECONNRESET)',
    ));

  it('says which part of a response could not be read', () =>
    expect(
      failureOf({ kind: 'unreadable', status: 201, reason: 'startUrl is not an http(s) URL' }).error,
    ).toBe('the response with status 201 could not be read (startUrl is not an http(s) URL)'));

  it('says why nothing was sent', () =>
    expect(failureOf({ kind: 'not_sent', reason: 'breaker_open' }).error).toBe(
      'it was not sent (breaker_open): the Solar Curtailment Service has been failing, so no calls are sent',
    ));

  it('quotes a rejection for the tenant, but not in the event', () =>
    expect(failureOf({ kind: 'rejected', status: 422, detail: 'no solar for Ann' })).toEqual({
      error: 'the Solar Curtailment Service rejected it with status 422: no solar for Ann',
      reason: 'the Solar Curtailment Service rejected it with status 422',
    }));

  it('says what refused it unread, but not in the event', () => {
    const why =
      'it was not sent (foreign_response): something in front of the Solar Curtailment Service may have responded instead of it';
    const outcome = { kind: 'not_sent', reason: 'foreign_response', detail: 'status 404: no route' } as const;
    expect(failureOf(outcome)).toEqual({ reason: why, error: `${why}: status 404: no route` });
  });

  it.each([
    [foreignFailure('a session of another user'), /belongs to a session of another user$/],
    [notStored('unique'), /could not be stored \(unique\)$/],
  ])('is the same in the event if it quotes nothing: %j', ({ error, reason }, text) => {
    expect(error).toMatch(text);
    expect(reason).toBe(error);
  });
});

it.each([
  [0, 0, 0],
  [1, 0, 5_000],
  [1, 4_000, 1_000],
  [1, 6_000, 0],
  [2, 0, 10_000],
  [6, 0, 160_000],
  [7, 0, 300_000],
  [50, 0, 300_000],
])('after %i failures, the last %i ms ago, a start waits %i ms', (failures, agoMs, waitMs) =>
  expect(waitAfterFailures({ failures, agoMs })).toBe(waitMs),
);

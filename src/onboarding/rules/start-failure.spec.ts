import { describe, expect, it } from '@jest/globals';
import { failureOf } from './start-failure.rules.js';

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
});

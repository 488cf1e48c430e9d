import { describe, expect, it } from '@jest/globals';
import { classifyResponse } from './exchange.js';
import { isUp } from './wire.js';

const respond = (status: number) => isUp({ kind: 'response', response: { status, body: '' } });

describe('the response to the base probe', () => {
  it.each([200, 204, 400, 401, 403, 404, 405])('shows with status %d that the service is up', (status) =>
    expect(respond(status)).toBe(true),
  );

  it.each([301, 302, 307, 408, 429, 500, 502, 503, 504])(
    'shows with status %d that it may be down',
    (status) => expect(respond(status)).toBe(false),
  );

  it('shows that the service is down if there is none', () => {
    expect(isUp({ kind: 'ambiguous', reason: 'connection lost' })).toBe(false);
    expect(isUp({ kind: 'not_sent', reason: 'unreachable' })).toBe(false);
  });
});

describe('a wait that the service requests', () => {
  const atServer = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toUTCString();
  it.each([
    [429, { 'retry-after': '60' }, 60_000],
    [503, { 'retry-after': '60', date: atServer(0) }, 60_000],
    [429, { 'retry-after': atServer(60), date: atServer(0) }, 60_000],
    [503, {}, undefined],
  ])('with status %d and %j is %j ms, by the clock of the service', (status, headers, quietMs) => {
    const response = { status, headers, data: { body: '{}' } } as unknown as Parameters<
      typeof classifyResponse
    >[0];
    expect(classifyResponse(response).quietMs).toBe(quietMs);
  });
});

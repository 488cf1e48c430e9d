import { describe, expect, it } from '@jest/globals';
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

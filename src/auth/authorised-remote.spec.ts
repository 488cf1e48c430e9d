import { describe, expect, it, jest } from '@jest/globals';
import type { RemoteRequest, Sent } from '../remote/outcome.rules.js';
import type { Remote } from '../remote/remote.service.js';
import { AuthorisedRemote } from './authorised-remote.service.js';
import type { BearerTokens } from './bearer-tokens.js';
import type { TenantTokens } from './tenant-tokens.service.js';

const START: RemoteRequest = {
  operation: 'start_session',
  method: 'POST',
  path: '/api/v1/ssa/onboarding/pv/1',
};
const GRANT = { kind: 'token', token: 't', generation: 1, grantedAt: 0 } as const;

function authorised(tokens: Partial<BearerTokens>, send: () => Promise<Sent>): AuthorisedRemote {
  return new AuthorisedRemote(
    { send } as Partial<Remote> as Remote,
    tokens as BearerTokens as TenantTokens,
    tokens as BearerTokens,
  );
}

it.each([
  ['a page', 200, '<html>Access denied</html>'],
  ['a redirect to a login', 302, ''],
])(
  'takes %s of something in front of the service neither for an accepted token nor for a call that is served',
  async (_, status, body) => {
    const told: string[] = [];
    const refused: Sent = { kind: 'response', response: { status: 403, body: '' } };
    const sent: Sent[] = [refused, { kind: 'response', response: { status, body } }];
    const tokens: Partial<BearerTokens> = {
      current: async () => GRANT,
      accept: async () => void told.push('accept'),
      release: async () => void told.push('release'),
    };
    const remote = authorised(tokens, () => Promise.resolve(sent.shift()!));
    const [one, other] = ['1', '2'].map((path) => ({ ...START, path }) as const);
    await remote.send(one!, 'tenant');
    expect(remote.weigh(one!, 403)).toBe('unknown');
    await remote.send(other!, 'tenant');
    expect(told).toEqual(['release', 'release']);
    // `call` would count towards `lost`.
    expect(remote.weigh(one!, 403)).toBe('unknown');
  },
);

describe('a refused POST', () => {
  const announceTrouble = jest.fn();
  const weigh = (status: number, calls: number) => {
    const remote = new AuthorisedRemote(
      { announceTrouble } as Partial<Remote> as Remote,
      {} as TenantTokens,
      {} as TenantTokens,
    );
    const outcomes = Array.from({ length: calls }, (_, nth) =>
      remote.weighOutcome({ ...START, path: `/${nth}` }, { kind: 'rejected', status, detail: '' }),
    );
    return outcomes.at(-1);
  };
  const NOT_SENT = { kind: 'not_sent', reason: 'credentials_rejected' };

  it('is rejected after a 403, until five different ones in a row were, which is announced once', () => {
    expect(weigh(403, 4)).toEqual({ kind: 'rejected', status: 403, detail: '' });
    expect(announceTrouble).not.toHaveBeenCalled();
    expect(weigh(403, 7)).toEqual(NOT_SENT);
    expect(announceTrouble).toHaveBeenCalledTimes(1);
  });

  it('is sent again later after a 401, and rejected after any other 4xx', () => {
    expect(weigh(401, 1)).toEqual(NOT_SENT);
    expect(weigh(422, 9)).toEqual({ kind: 'rejected', status: 422, detail: '' });
  });
});

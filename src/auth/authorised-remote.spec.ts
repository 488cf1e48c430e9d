import { describe, expect, it, jest } from '@jest/globals';
import type { RemoteRequest, Sent } from '../remote/outcome.rules.js';
import type { Peers, Remote } from '../remote/remote.service.js';
import { AuthorisedRemote } from './authorised-remote.service.js';
import { type BearerTokens, isTokenAccepted } from './bearer-tokens.js';
import type { TenantTokens } from './tenant-tokens.service.js';

const START: RemoteRequest = {
  operation: 'start_session',
  method: 'POST',
  path: '/api/v1/ssa/onboarding/pv/1',
};

it.each([
  ['a page', 200, '<html>Access denied</html>'],
  ['a redirect to a login', 302, ''],
])(
  'takes %s of something in front of the service neither for an accepted token nor for a call that is served',
  async (_, status, body) => {
    const foreign: Sent = { kind: 'response', response: { status, body } };
    const responses: Sent[] = [{ kind: 'response', response: { status: 403, body: '' } }, foreign];
    const tokens: BearerTokens = { send: (call) => call.send('t') };
    const send = () => Promise.resolve(responses.shift()!);
    const remote = new AuthorisedRemote(
      { send } as Partial<Remote> as Remote,
      tokens as TenantTokens,
      tokens,
    );
    const [one, other] = ['1', '2'].map((path) => ({ ...START, path }) as const);
    await remote.send(one!, 'tenant');
    expect(remote.weigh(one!, 403)).toBe('unknown');
    await remote.send(other!, 'tenant');
    expect(isTokenAccepted(foreign)).toBe(false);
    // `call` would count towards `lost`.
    expect(remote.weigh(one!, 403)).toBe('unknown');
  },
);

describe('a refused POST', () => {
  const announce = jest.fn<Peers['announce']>();
  const weigh = (status: number, calls: number) => {
    const remote = new AuthorisedRemote(
      { peers: { announce } as Partial<Peers> as Peers } as Partial<Remote> as Remote,
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
    expect(announce).not.toHaveBeenCalled();
    expect(weigh(403, 7)).toEqual(NOT_SENT);
    expect(announce).toHaveBeenCalledTimes(1);
  });

  it('is sent again later after a 401, and rejected after any other 4xx', () => {
    expect(weigh(401, 1)).toEqual(NOT_SENT);
    expect(weigh(422, 9)).toEqual({ kind: 'rejected', status: 422, detail: '' });
  });
});

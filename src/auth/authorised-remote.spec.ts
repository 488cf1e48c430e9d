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
  const tenantTokens = { ...tokens, tokensFor: () => tokens } as TenantTokens;
  return new AuthorisedRemote({ send } as Partial<Remote> as Remote, tenantTokens, tenantTokens);
}

const lost = () => Promise.reject(new Error('Connection terminated unexpectedly'));

it('returns not_sent if the database is unavailable and no token is cached', async () => {
  const send = jest.fn<() => Promise<Sent>>();
  expect(await authorised({ current: lost }, send).send(START, 'tenant')).toEqual({
    kind: 'not_sent',
    reason: 'token_unavailable',
  });
  expect(send).not.toHaveBeenCalled();
});

it('returns not_sent if the database is unavailable after a 401, which had no effect', async () => {
  const refused: Sent = { kind: 'response', response: { status: 401, body: '' } };
  const remote = authorised({ current: () => Promise.resolve(GRANT), renewed: lost }, () =>
    Promise.resolve(refused),
  );
  expect(await remote.send(START, 'user', 'u')).toEqual({ kind: 'not_sent', reason: 'token_unavailable' });
});

it('throws if the database is unavailable after a call that may have had an effect', async () => {
  const created: Sent = { kind: 'response', response: { status: 201, body: '{}' } };
  const remote = authorised({ current: () => Promise.resolve(GRANT), accepted: lost }, () =>
    Promise.resolve(created),
  );
  await expect(remote.send(START, 'tenant')).rejects.toThrow('Connection terminated unexpectedly');
});

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
      current: () => GRANT,
      accepted: () => void told.push('accepted'),
      abandoned: () => void told.push('abandoned'),
    };
    const remote = authorised(tokens, () => Promise.resolve(sent.shift()!));
    const [one, other] = ['1', '2'].map((path) => ({ ...START, path }) as const);
    await remote.send(one!, 'tenant');
    expect(remote.weigh(one!, 403)).toBe('unknown');
    await remote.send(other!, 'tenant');
    expect(told).toEqual(['abandoned', 'abandoned']);
    // `call` would count towards `lost`.
    expect(remote.weigh(one!, 403)).toBe('unknown');
  },
);

it('throws any other error', async () => {
  const remote = authorised(
    { current: () => Promise.reject(new TypeError('a bug')) },
    jest.fn<() => Promise<Sent>>(),
  );
  await expect(remote.send(START, 'tenant')).rejects.toThrow('a bug');
});

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

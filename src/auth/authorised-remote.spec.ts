import { expect, it, jest } from '@jest/globals';
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

it('says that nothing was sent when the database is away and a token has to be asked for', async () => {
  const send = jest.fn<() => Promise<Sent>>();
  expect(await authorised({ current: lost }, send).send(START, 'tenant')).toEqual({
    kind: 'not_sent',
    reason: 'token_unavailable',
  });
  expect(send).not.toHaveBeenCalled();
});

it('says the same after a 401, which took nothing', async () => {
  const refused: Sent = { kind: 'response', response: { status: 401, body: '' } };
  const remote = authorised({ current: () => Promise.resolve(GRANT), renewed: lost }, () =>
    Promise.resolve(refused),
  );
  expect(await remote.send(START, 'user', 'u')).toEqual({ kind: 'not_sent', reason: 'token_unavailable' });
});

it('does not say so when the database is away after the call, which may have been taken', async () => {
  const taken: Sent = { kind: 'response', response: { status: 201, body: '' } };
  const remote = authorised({ current: () => Promise.resolve(GRANT), accepted: lost }, () =>
    Promise.resolve(taken),
  );
  await expect(remote.send(START, 'tenant')).rejects.toThrow('Connection terminated unexpectedly');
});

it('hides no other fault', async () => {
  const remote = authorised(
    { current: () => Promise.reject(new TypeError('a bug')) },
    jest.fn<() => Promise<Sent>>(),
  );
  await expect(remote.send(START, 'tenant')).rejects.toThrow('a bug');
});

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { OperationClass, Outcome, RemoteRequest, Sent } from '../remote/outcome.rules.js';
import type { Peers, Remote } from '../remote/remote.service.js';
import { AuthorisedRemote } from './authorised-remote.service.js';
import { type BearerTokens, isTokenAccepted } from './bearer-tokens.js';
import type { Refusal } from './refusals.js';
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
  afterEach(() => {
    jest.restoreAllMocks();
    announce.mockClear();
    probed = 200;
  });
  let probed: number | undefined = 200;
  /** Refuses different calls in a row. `everyMs`: the time between them. Returns the last outcome. */
  const weigh = async (
    status: number,
    calls: number,
    operation: OperationClass = 'start_session',
    everyMs = 0,
  ) => {
    const remote = new AuthorisedRemote(
      {
        peers: { announce } as Partial<Peers> as Peers,
        probe: () => Promise.resolve(probed),
      } as Partial<Remote> as Remote,
      {} as TenantTokens,
      {} as TenantTokens,
    );
    let outcome: Outcome<never> | undefined;
    for (let nth = 0; nth < calls; nth++) {
      jest.spyOn(performance, 'now').mockReturnValue(nth * everyMs);
      const request = { ...START, operation, path: `/${nth}` };
      outcome = await remote.weighOutcome(request, { kind: 'rejected', status, detail: '' });
    }
    return outcome;
  };
  const NOT_SENT = { kind: 'not_sent', reason: 'credentials_rejected' };
  const MAYBE_FOREIGN = { kind: 'not_sent', reason: 'foreign_response' };

  it.each([400, 422])('rejects a registration at once after a %i, but not five in a row', async (status) => {
    const rejected = { kind: 'rejected', status, detail: '' };
    expect(await weigh(status, 4, 'register_user')).toEqual(rejected);
    expect(await weigh(status, 5, 'register_user')).toMatchObject(MAYBE_FOREIGN);
    expect(await weigh(status, 9, 'register_user', 60_000 - 1)).toMatchObject(MAYBE_FOREIGN);
    expect(await weigh(status, 9, 'register_user', 60_000)).toEqual(rejected);
  });

  it.each([
    [200, 'rejected'],
    [undefined, 'rejected'],
    [400, 'not_sent'],
    [409, 'not_sent'],
    [422, 'not_sent'],
  ])('with a status about the registration, while the base probe gets %s, is %s', async (status, kind) => {
    probed = status;
    for (const each of status === 200 || status === undefined ? [400, 409, 422] : [status])
      expect(await weigh(each, 1, 'register_user')).toMatchObject({ kind });
  });

  it.each([402, 403, 404, 405, 406, 407, 410, 411, 412, 413, 414, 415, 421, 423, 424, 425, 426, 431, 451])(
    'rejects no registration after one %i, which a proxy, firewall or gateway may send',
    async (status) => {
      expect(await weigh(status, 1, 'register_user')).toMatchObject(MAYBE_FOREIGN);
    },
  );

  it('is rejected after a 403, until five different ones in a row were, which is announced once', async () => {
    expect(await weigh(403, 4)).toEqual({ kind: 'rejected', status: 403, detail: '' });
    expect(announce).not.toHaveBeenCalled();
    expect(await weigh(403, 7)).toEqual(NOT_SENT);
    expect(announce).toHaveBeenCalledTimes(1);
  });

  it('is sent again later after a 401, and rejected after a conflict or a refused content', async () => {
    expect(await weigh(401, 1)).toEqual(NOT_SENT);
    expect(await weigh(409, 9, 'register_user')).toEqual({ kind: 'rejected', status: 409, detail: '' });
    expect(await weigh(422, 9)).toEqual({ kind: 'rejected', status: 422, detail: '' });
  });
});

describe('a read that is missing, while no other is served', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });
  it('with a 401 shows nothing about the session, whatever the base probe gets, which carries no token', async () => {
    const probing: Partial<Remote> = { probe: () => Promise.resolve(200) };
    const remote = new AuthorisedRemote(probing as Remote, {} as TenantTokens, {} as TenantTokens);
    const read = { operation: 'read_session', method: 'GET', path: '/1' } as const;
    const weighed = async (status: number) => remote.weighRead(read, status, 'always');
    expect([await weighed(401), await weighed(403)]).toEqual(['unknown', 'call']);
  });

  /** Weighs reads of different sessions, twice each, a minute apart. `probeStatus`: the status of the base probe. */
  const weigh = async (sessions: number, status: number, probeStatus: number) => {
    const announce = jest.fn<Peers['announce']>();
    const remote = new AuthorisedRemote(
      {
        peers: { announce } as Partial<Peers> as Peers,
        probe: () => Promise.resolve(probeStatus),
      } as Partial<Remote> as Remote,
      {} as TenantTokens,
      {} as TenantTokens,
    );
    const refusals = new Set<Refusal>();
    for (const minute of [0, 1]) {
      jest.spyOn(performance, 'now').mockReturnValue(minute * 60_000);
      for (let nth = 0; nth < sessions; nth++)
        refusals.add(
          await remote.weighRead(
            { operation: 'read_session', method: 'GET', path: `/${nth}` },
            status,
            'few',
          ),
        );
    }
    return { refusals: [...refusals], announcements: announce.mock.calls.length };
  };

  it.each([
    // The service answers the probe otherwise, so each session is missing by itself, and is lost once that has lasted.
    ...[1, 2, 3, 4, 7, 20].map((sessions) => [sessions, 404, 200, ['call'], 0] as const),
    [7, 410, 404, ['call'], 0],
    // Many sessions at once are rather a path that a gateway does not serve.
    [21, 404, 200, ['call', 'unknown', 'all'], 1],
    // A gateway without a route to the service answers the probe, too.
    ...[1, 4].map((sessions) => [sessions, 404, 404, ['unknown'], 1] as const),
    [7, 404, 404, ['unknown', 'all'], 1],
    // A refusal says nothing about a single session.
    [4, 403, 200, ['unknown'], 0],
    [7, 403, 200, ['unknown', 'all'], 1],
  ] as const)(
    '%i sessions with %i and a probe with %i: %j, announced %i times',
    async (sessions, status, probeStatus, refusals, announcements) => {
      expect(await weigh(sessions, status, probeStatus)).toEqual({ refusals, announcements });
    },
  );
});

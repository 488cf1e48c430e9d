import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AuthorisedRemote } from '../../../src/auth/authorised-remote.service.js';
import { type BearerTokens, isTokenRefused } from '../../../src/auth/bearer-tokens.js';
import type { TenantTokens } from '../../../src/auth/tenant-tokens.service.js';
import { readTokenResponse, tokenRequest } from '../../../src/auth/token.client.js';
import type { NotSent, RemoteRequest, Sent } from '../../../src/remote/outcome.rules.js';
import { readObject } from '../../../src/remote/wire/read-field.js';
import { outcomeOf } from '../../../src/remote/wire/read-response.js';
import { isLong, itAtLength, promise } from '../../faults/support/promise.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { waitFor } from '../../setup/wait-for.js';
import {
  type Replica,
  replicaEnvironment,
  startReplica,
  startTokenService,
  tally,
  type TokenService,
} from './fixture.js';
import { CREDENTIALS, type RawRequest, readSession, registerUser, reply } from '../remote/fixture.js';
import { closeAfterEach } from '../../setup/close-after-each.js';

let database: TestDatabase;
let service: TokenService;
const closing = closeAfterEach();

beforeEach(async () => {
  database = await createTestDatabase();
  service = await startTokenService();
});

afterEach(async () => {
  await service.close();
  await database.drop();
});

function replica(): Replica {
  const started = startReplica(replicaEnvironment(database.url, service));
  closing.push(started.close);
  return started;
}

const UNAUTHORISED: Sent = { kind: 'response', response: { status: 401, body: '' } };

/** Sends refused calls, each just after one that is accepted, until one gets its 401 without another token. */
const untilTolerated = (
  { read, authorised }: Replica,
  refused: () => RemoteRequest = () => ({ ...readSession, path: `/api/v1/pv/odd-${randomUUID()}` }),
) =>
  waitFor('a refused call gets its 401', async () => {
    const tokens = service.tokenRequests.length;
    await read();
    const sent = await authorised.send(refused(), 'tenant');
    return sent.kind === 'response' && service.tokenRequests.length === tokens;
  });

const SESSIONS = 200;
const REFUSED_MS = isLong ? 10_000 : 2_500;

function poll(read: () => Promise<Sent>): { readonly succeeded: () => number; stop(): Promise<void> } {
  let succeeded = 0;
  let polling = true;
  const sessions = Array.from({ length: SESSIONS }, async () => {
    while (polling) {
      const sent = await read();
      if (sent.kind === 'response' && sent.response.status === 200) succeeded++;
      await sleep(250);
    }
  });
  return {
    succeeded: () => succeeded,
    stop: async () => {
      polling = false;
      await Promise.all(sessions);
    },
  };
}

describe('R13: a 401 never storms', () => {
  it('requests at most 2 tokens and retries slowly while every call is refused, then recovers', async () => {
    const one = replica();
    await one.read();
    const tokensBefore = service.tokenRequests.length;
    const polling = poll(one.read);
    await waitFor('the poller to run', () => polling.succeeded() > 2 * SESSIONS);

    service.refuseCalls = true;
    const refusedFrom = performance.now();
    await waitFor('calls to be blocked', async () => (await one.store.getStatus()).state === 'rejected');
    // Excludes the calls that were in flight when the 401s began.
    const callsAtFirst = service.calls.length;
    const succeededAtFirst = polling.succeeded();
    await sleep(REFUSED_MS - (performance.now() - refusedFrom));
    const status = await waitFor('a refused trial', async () => {
      const shown = await one.store.getStatus();
      return shown.state === 'rejected' && shown.failures >= 2 && shown;
    });
    const trials = service.calls.length - callsAtFirst;
    service.refuseCalls = false;

    promise('R13', {
      figure: `${service.tokenRequests.length - tokensBefore} token requests, ${trials} trials, ${polling.succeeded() - succeededAtFirst} successful reads in ${REFUSED_MS / 1_000} s`,
      bound: '2, 4, 0',
    });
    expect(service.tokenRequests.length - tokensBefore).toBeLessThanOrEqual(2);
    // In 10 s, the service may try the credentials twice. Each time, it may call with the current token and with a new token.
    expect(trials).toBeLessThanOrEqual(4);
    expect(polling.succeeded()).toBe(succeededAtFirst);
    expect(status).toMatchObject({
      state: 'rejected',
      rejectedAt: expect.any(Date),
      lastError: expect.any(String),
    });

    const coolDownMs = status.nextAttemptAt!.getTime() - Date.now();
    await waitFor(
      'the sessions to be read again',
      () => polling.succeeded() > succeededAtFirst + SESSIONS,
      coolDownMs + (isLong ? 3_000 : 60_000),
    );
    expect(service.tokenRequests.length - tokensBefore).toBeLessThanOrEqual(2);
    expect(await one.store.getStatus()).toMatchObject({ state: 'valid', rejectedAt: null, failures: 0 });
    await polling.stop();
  });

  itAtLength('turns red with a refresh on every 401', async () => {
    const one = replica();
    service.refuseCalls = true;
    const everyTime: BearerTokens = {
      send: async (call) => {
        const sent = await call.send('first');
        if (!isTokenRefused(sent, call)) return sent;
        const credentials = { ...CREDENTIALS, SCS_SCOPE: 'pvcurtailment' };
        const outcome = outcomeOf(await one.remote.send(tokenRequest(credentials)), (response) =>
          readTokenResponse(readObject(response.body), new Date()),
        );
        return outcome.kind === 'done' ? call.send(outcome.value.value) : REFUSED;
      },
    };
    const authorised = new AuthorisedRemote(one.remote, everyTime as TenantTokens, everyTime);
    await Promise.all(Array.from({ length: SESSIONS }, () => authorised.send(readSession, 'user')));
    expect(service.tokenRequests.length).toBeGreaterThan(2);
  });
});

const recoveries = async (one: Replica) =>
  (await one.database.query(`SELECT FROM domain_events WHERE name = 'remote.recovered'`)).length;

describe('a probe of refused credentials', () => {
  /** Lets the service refuse two fresh tokens, which is announced, and blocks all calls for longer. */
  async function refuseTwice(one: Replica): Promise<void> {
    service.refuseCalls = true;
    await waitFor('the second trial', async () => {
      await one.read();
      return (await one.store.getStatus()).failures === 2;
    });
    await one.database.query(
      `UPDATE remote_tokens SET next_attempt_at = clock_timestamp() + interval '5 minutes'`,
    );
  }

  it('ends the wait of all replicas with one token request, even if there are many probes', async () => {
    const replicas = [replica(), replica(), replica()];
    const [one, other] = replicas as [Replica, Replica, Replica];
    await refuseTwice(one);
    service.refuseCalls = false;
    const before = service.tokenRequests.length;
    const outcomes = await Promise.all(Array.from({ length: 30 }, (_, i) => replicas[i % 3]!.tokens.probe()));
    expect(new Set(outcomes)).toEqual(new Set(['token_issued', 'too_soon']));
    expect(JSON.stringify(outcomes)).not.toContain('canary');
    expect(service.tokenRequests.length - before).toBe(1);
    await waitFor('calls pass', async () => (await other.read()).kind === 'response');
    expect(await recoveries(one)).toBe(1);
    expect(await other.tokens.probe()).toBe('valid');
    expect(service.tokenRequests.length - before).toBe(1);
  });

  it('announces no recovery while calls are refused with the new token, and is not repeated within 5 s', async () => {
    const one = replica();
    await refuseTwice(one);
    const [tokens, calls] = [service.tokenRequests.length, service.calls.length];
    expect(await one.tokens.probe()).toBe('token_issued');
    // Moves the probe into the future, so that the 5 s after it do not end during the test.
    await one.database.query(
      `UPDATE remote_tokens SET probed_at = probed_at + interval '1 minute', obtained_at = obtained_at + interval '1 minute'`,
    );
    expect(await one.tokens.probe()).toBe('too_soon');
    await waitFor('the trial', async () => {
      await one.read();
      return service.calls.length > calls;
    });
    for (let i = 0; i < 50; i++) await one.read();
    expect([await one.tokens.probe(), (await one.store.getStatus()).state]).toEqual(['too_soon', 'rejected']);
    expect(service.tokenRequests.length - tokens).toBe(1);
    expect(await recoveries(one)).toBe(0);
  });

  it.each([
    [401, 'refused'],
    [500, 'no_token'],
  ])('returns the outcome of the token request: %i is %s', async (status, outcome) => {
    const one = replica();
    service.respondToTokenRequest = () => reply(401, '');
    await one.read();
    service.respondToTokenRequest = () => reply(status, '{"client_secret":"client-secret-canary-3"}');
    expect(await one.tokens.probe()).toBe(outcome);
    expect(service.tokenRequests).toHaveLength(2);
    expect(JSON.stringify(await one.store.getStatus())).not.toContain('canary');
  });
});

const REFUSED: NotSent = { kind: 'not_sent', reason: 'credentials_rejected' };

describe('a token that is refused', () => {
  it('is renewed once for 200 calls on 3 replicas, and every call succeeds', async () => {
    const replicas = [replica(), replica(), replica()];
    await Promise.all(replicas.map((one) => one.read()));
    service.accepted.clear();
    const all = await Promise.all(Array.from({ length: 200 }, (_, i) => replicas[i % 3]!.read()));
    expect(tally(all)).toEqual({ '200': 200 });
    expect(service.tokenRequests).toHaveLength(2);
  });

  it('is renewed although a call that was sent before its refusal is accepted after it', async () => {
    const one = replica();
    await one.read();
    const send = one.remote.send.bind(one.remote);
    let [respond, sendSecond] = [() => {}, () => {}];
    const responding = new Promise<void>((resolve) => (respond = resolve));
    const sendingSecond = new Promise<void>((resolve) => (sendSecond = resolve));
    one.remote.send = async (request) => {
      one.remote.send = async (second) => {
        one.remote.send = send;
        await sendingSecond;
        return send(second);
      };
      const sent = await send(request);
      await responding;
      return sent;
    };
    const all = [one.read(), one.read()];
    await waitFor('the first response', () => service.calls.length === 2);
    service.accepted.clear();
    respond();
    await all[0];
    sendSecond();
    expect(tally(await Promise.all(all))).toEqual({ '200': 2 });
    expect(service.tokenRequests).toHaveLength(2);
  });

  it('is not taken for accepted by a response that may precede its check', async () => {
    const one = replica();
    await one.read();
    service.accepted.clear();
    const send = one.remote.send.bind(one.remote);
    for (const status of [403, 404, 429, 503]) {
      one.remote.send = async (request) =>
        request.operation === 'token' || service.tokenRequests.length < 2
          ? send(request)
          : { kind: 'response', response: { status, body: status === 404 ? '' : '{}' } };
      await one.read();
      expect((await one.store.getStatus()).rejectedAt).not.toBeNull();
      await one.database.query('UPDATE remote_tokens SET next_attempt_at = NULL');
    }
    one.remote.send = send;
    await waitFor('the next trial', async () => (await one.read()).kind === 'response');
    expect((await one.store.getStatus()).rejectedAt).toBeNull();
  });

  it('is renewed for a POST too, since a refused POST had no effect', async () => {
    const one = replica();
    await one.read();
    service.accepted.clear();
    expect(await one.authorised.send(registerUser, 'tenant')).toMatchObject({ response: { status: 200 } });
    expect(service.calls.filter(({ method }) => method === 'POST')).toHaveLength(2);
  });

  it('is sent again with a call that was refused once while others were accepted', async () => {
    const one = replica();
    await one.read();
    const send = one.remote.send.bind(one.remote);
    one.remote.send = async () => {
      one.remote.send = send;
      await one.read();
      return { kind: 'response', response: { status: 401, body: '' } };
    };
    expect(tally([await one.read()])).toEqual({ '200': 1 });
    expect(service.tokenRequests).toHaveLength(1);
  });

  it('stays in use when only one call is refused while others are accepted', async () => {
    const one = replica();
    await one.read();
    let refusing = true;
    const odd = { ...readSession, path: '/api/v1/ssa/onboarding/pv/odd' };
    const send = one.remote.send.bind(one.remote);
    one.remote.send = async (request) => {
      if (request.path !== odd.path) return send(request);
      await one.read();
      return { kind: 'response', response: { status: refusing ? 401 : 200, body: '' } };
    };
    expect(await one.authorised.send(odd, 'user')).toMatchObject({ response: { status: 401 } });
    expect(tally([await one.read()])).toEqual({ '200': 1 });
    refusing = false;
    expect(await one.authorised.send(odd, 'user')).toMatchObject({ kind: 'response' });
    expect(service.tokenRequests).toHaveLength(1);
  });

  it('is not on trial when a call is refused twice while one that was sent later is accepted', async () => {
    const one = replica();
    await one.read();
    const odd = { ...readSession, path: '/api/v1/ssa/onboarding/pv/odd' };
    const send = one.remote.send.bind(one.remote);
    let later: Promise<Sent> | undefined;
    let answer = (): void => undefined;
    const isTried = new Promise<void>((resolve) => (answer = resolve));
    one.remote.send = async (request) => {
      if (request.operation === 'token') return send(request);
      if (request.path !== odd.path) return isTried.then(() => send(request));
      if (later !== undefined) {
        answer();
        await later;
      } else {
        await sleep(2);
        later = one.read();
      }
      return { kind: 'response', response: { status: 401, body: '' } };
    };
    expect(await one.authorised.send(odd, 'user')).toMatchObject({ response: { status: 401 } });
    expect(tally([await one.read()])).toEqual({ '200': 1 });
    expect(service.tokenRequests).toHaveLength(2);
    expect(await one.store.read()).toMatchObject({ rejectedAt: null, refusedOperations: [] });
    one.remote.send = async (request) => (request.path.includes('odd') ? UNAUTHORISED : send(request));
    await untilTolerated(one);
  });

  it('is next tried by another call of the class than the one that was refused', async () => {
    const one = replica();
    const odd = { ...readSession, path: '/api/v1/ssa/onboarding/pv/odd' };
    const send = one.remote.send.bind(one.remote);
    one.remote.send = async (request) =>
      request.path === odd.path ? { kind: 'response', response: { status: 401, body: '' } } : send(request);
    const refused = (await one.authorised.send(odd, 'user')) as NotSent;
    const blocked = (await one.read()) as NotSent;
    expect(refused.retryAfterMs!).toBeGreaterThan(blocked.retryAfterMs! + 500);
  });

  it('stays in use when calls are refused of which one was refused before others were accepted', async () => {
    const one = replica();
    const odd = { ...readSession, path: '/api/v1/ssa/onboarding/pv/odd' };
    const send = one.remote.send.bind(one.remote);
    one.remote.send = async (request) => (request.path.includes('odd') ? UNAUTHORISED : send(request));
    expect(await one.authorised.send(odd, 'user')).toMatchObject(REFUSED);
    await waitFor('another call is accepted', async () => (await one.read()).kind === 'response');
    const tokens = service.tokenRequests.length;
    expect(await one.authorised.send(odd, 'user')).toMatchObject({ response: { status: 401 } });
    expect(tally([await one.read()])).toEqual({ '200': 1 });
    expect(service.tokenRequests).toHaveLength(tokens);
    await untilTolerated(one);
    expect(await one.database.query('SELECT FROM domain_events')).toEqual([]);
  });

  it('stays in use when a call whose body cannot be sent again is refused alone, again and again', async () => {
    const one = replica();
    await one.read();
    const passed = { ...registerUser, operation: 'pass_through', passed: { body: {} } } as RemoteRequest;
    const send = one.remote.send.bind(one.remote);
    one.remote.send = async (request) =>
      request.operation === 'pass_through' ? UNAUTHORISED : send(request);
    expect(await one.authorised.send(passed, 'tenant')).toMatchObject({ reason: 'token_unavailable' });
    await untilTolerated(one, () => passed);
  });

  it('is tried by another call if the call of the trial gets no response', async () => {
    const [one, other] = [replica(), replica()];
    await one.read();
    service.accepted.clear();
    const send = one.remote.send.bind(one.remote);
    let lost = false;
    one.remote.send = async (request) => {
      if (request.operation !== 'token' && service.tokenRequests.length === 2 && !lost) {
        lost = true;
        return { kind: 'ambiguous', reason: 'connection lost' };
      }
      return send(request);
    };
    expect(await one.read()).toEqual({ kind: 'ambiguous', reason: 'connection lost' });
    await waitFor('the next trial', async () => (await other.read()).kind === 'response');
    expect(service.tokenRequests).toHaveLength(2);
  });
});

describe('a token that is refused for one class of operations', () => {
  const register = (one: Replica) => one.authorised.send(registerUser, 'tenant');
  const isRead = ({ method }: RawRequest) => method === 'GET';
  const eventsOf = (one: Replica) => one.database.query('SELECT name FROM domain_events');

  /** Lets the service refuse reads, until the replica knows that only these are refused. */
  async function refuseReads(one: Replica, refuses: TokenService['refuseCalls'] = isRead): Promise<void> {
    await one.read();
    service.refuseCalls = refuses;
    await one.read();
    await waitFor('only reads are refused', async () => {
      await register(one);
      return (await one.read()).kind === 'response';
    });
  }

  it('stays in use for the others on all replicas, and is forgotten once a call of the class is served', async () => {
    const [one, other] = [replica(), replica()];
    await other.read();
    await refuseReads(one);
    for (let i = 0; i < 5; i++)
      for (const each of [one, other])
        expect(tally(await Promise.all([each.read(), register(each)]))).toEqual({ '401': 1, '200': 1 });
    expect(await one.store.getStatus()).toMatchObject({ state: 'valid', failures: 0 });
    expect(service.tokenRequests).toHaveLength(2);
    expect(await eventsOf(one)).toEqual([]);
    service.refuseCalls = false;
    expect(tally([await one.read()])).toEqual({ '200': 1 });
    await waitFor('it is forgotten', async () => (await one.store.read()).refusedOperations.length === 0);
    // The other replica learns it from the row, so it soon requests another token if this one ends.
    service.accepted.clear();
    await waitFor('it has another token', async () => tally([await other.read()])['200'] === 1);
  });

  it('is renewed at once for a class that was refused in an outage of all', async () => {
    const one = replica();
    await one.read();
    service.refuseCalls = true;
    for (const call of [one.read, () => register(one)]) {
      await one.database.query('UPDATE remote_tokens SET next_attempt_at = NULL');
      await call();
    }
    expect((await one.store.read()).refusedOperations).toEqual(['read_session', 'register_user']);
    service.refuseCalls = false;
    await waitFor('it is accepted', async () => (await one.read()).kind === 'response');
    await one.database.query(`UPDATE remote_tokens SET obtained_at = obtained_at - interval '1 hour'`);
    service.accepted.clear();
    expect(tally([await register(one)])).toEqual({ '200': 1 });
  });

  it('is not renewed for the class while the calls of another replica are on trial', async () => {
    const [one, other] = [replica(), replica()];
    await refuseReads(one);
    await one.database.query(`UPDATE remote_tokens SET obtained_at = obtained_at - interval '4 minutes'`);
    await register(other);
    service.refuseCalls = true;
    await replica().authorised.send({ ...registerUser, operation: 'start_session' }, 'tenant');
    await one.database.query(`UPDATE remote_tokens SET obtained_at = obtained_at - interval '4 minutes'`);
    const tokens = service.tokenRequests.length;
    const looks = jest.spyOn(other.store, 'read');
    await waitFor('it has looked twice whether to renew', async () => {
      await other.read();
      return looks.mock.calls.length >= 2;
    });
    expect(service.tokenRequests).toHaveLength(tokens);
    looks.mockRestore();
  });

  it('is renewed for the class every five minutes while it is refused, and calls of others never wait', async () => {
    const one = replica();
    await refuseReads(one);
    await one.database.query(`UPDATE remote_tokens SET obtained_at = obtained_at - interval '5 minutes'`);
    const tokens = [...service.accepted];
    service.refuseCalls = (call, token) => isRead(call) && tokens.includes(token);
    const fresh = replica();
    await register(fresh);
    expect(service.tokenRequests).toHaveLength(2);
    await waitFor('reads are served', async () => {
      expect(tally([await register(fresh)])).toEqual({ '200': 1 });
      return tally([await fresh.read()])['200'] === 1;
    });
    expect(service.tokenRequests).toHaveLength(3);
    expect(await eventsOf(fresh)).toEqual([]);
  });

  it('is renewed as ever once it is refused for others, too', async () => {
    const one = replica();
    await refuseReads(one);
    service.refuseCalls = false;
    service.accepted.clear();
    expect(tally([await register(one), await one.read()])).toEqual({ '200': 2 });
    expect(service.tokenRequests).toHaveLength(3);
  });
});

describe('credentials that the token endpoint refuses', () => {
  it('block all calls and are retried slowly', async () => {
    service.respondToTokenRequest = () =>
      reply(401, '{"error":"invalid_client","client_secret":"client-secret-canary-3"}');
    const [one, other] = [replica(), replica()];
    const all = await Promise.all([one, other].flatMap((each) => Array.from({ length: 50 }, each.read)));
    expect(tally(all)).toEqual({ 'not_sent credentials_rejected': 100 });
    expect(all[0]).toMatchObject({ retryAfterMs: expect.any(Number) });
    expect(service.tokenRequests).toHaveLength(1);
    expect(service.calls).toHaveLength(0);
    const shown = await one.store.getStatus();
    expect(shown).toMatchObject({ state: 'rejected', generation: 0, failures: 1 });
    expect(shown.nextAttemptAt!.getTime() - shown.rejectedAt!.getTime()).toBeGreaterThanOrEqual(4_900);
    expect(JSON.stringify(shown)).not.toContain('canary');
  });

  it('are not tried again at once when a replica with the right ones has a token', async () => {
    service.respondToTokenRequest = ({ body }) =>
      body.includes('old-secret') ? reply(401, '{"error":"invalid_client"}') : undefined;
    const [asker, old] = [1, 2].map(() => {
      const started = startReplica({
        ...replicaEnvironment(database.url, service),
        SCS_CLIENT_SECRET: 'old-secret',
      });
      closing.push(started.close);
      return started;
    }) as [Replica, Replica];
    const refused = { 'not_sent credentials_rejected': 1 };
    expect([tally([await asker.read()]), tally([await old.read()])]).toEqual([refused, refused]);
    const corrected = replica();
    expect(tally([await corrected.read()])).toEqual({ '200': 1 });
    const memory = old.tokens as unknown as {
      refusals: Map<unknown, unknown>;
      rejectedUntil: number;
    };
    memory.refusals.clear();
    // Prolongs the wait of 5 s, so that it does not end before the next read.
    memory.rejectedUntil += 60_000;
    expect(tally([await old.read()])).toEqual(refused);
    expect((await corrected.store.getStatus()).state).toBe('valid');
    expect(await recoveries(corrected)).toBe(1);
    expect(service.tokenRequests).toHaveLength(2);
  });

  it('are tried again after the cool-down, and then calls resume', async () => {
    service.respondToTokenRequest = () => reply(401, '');
    const [one, other] = [replica(), replica()];
    await one.read();
    service.respondToTokenRequest = undefined;
    await one.database.query(
      `UPDATE remote_tokens SET next_attempt_at = clock_timestamp() - interval '1 ms'`,
    );
    await waitFor('the next attempt', async () => (await one.read()).kind === 'response');
    expect(tally([await other.read()])).toEqual({ '200': 1 });
    expect(service.tokenRequests).toHaveLength(2);
  });
});

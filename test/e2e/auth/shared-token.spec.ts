import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { TokenRow } from '../../../src/auth/token-plan.rules.js';
import type { Token } from '../../../src/auth/token.client.js';
import { TokenStore } from '../../../src/auth/token.store.js';
import { itAtLength, promise } from '../../faults/support/promise.js';
import type { Lease, Leases } from '../../../src/platform/database/lease.js';
import { withoutSecrets } from '../../../src/platform/redaction/secrets.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { startTestProcess, type TestProcess } from '../../setup/processes/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import {
  type Replica,
  replicaEnvironment,
  startReplica,
  startTokenService,
  tally,
  type TokenService,
} from './fixture.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { reply } from '../remote/fixture.js';

/** The jest timeout of a test that starts three processes at once. */
const STARTING_PROCESSES_MS = 90_000;

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

function replica(overrides: Record<string, string> = {}, storeFor?: Parameters<typeof startReplica>[1]) {
  const started = startReplica({ ...replicaEnvironment(database.url, service), ...overrides }, storeFor);
  closing.push(started.close);
  return started;
}

async function process(timeoutMs: number): Promise<TestProcess> {
  const started = await startTestProcess(
    'test/e2e/auth/replica.process.ts',
    replicaEnvironment(database.url, service, timeoutMs),
  );
  closing.push(() => started.stop('SIGKILL'));
  return started;
}

const calls = async (target: TestProcess, count: number): Promise<Record<string, number>> =>
  (await fetch(`${target.url}/${count}`)).json() as Promise<Record<string, number>>;

const expire = (from: Replica): Promise<unknown> =>
  from.database.query(`UPDATE remote_tokens SET renew_at = clock_timestamp() - interval '3 days',
    expires_at = clock_timestamp() - interval '1 day'`);

describe('R12: one token for all', () => {
  it('is hidden in the text of a process that uses it', async () => {
    await replica().read();
    const token = service.calls.at(-1)!.headers.authorization!.split(' ').at(-1)!;
    expect(withoutSecrets(`${token} is refused`)).toBe('[redacted] is refused');
  });

  it(
    'is requested once when 3 replicas make 100 calls each with an expired token',
    async () => {
      const replicas = await Promise.all([process(40_000), process(40_000), process(40_000)]);
      const observer = replica();
      await observer.read();
      await expire(observer);
      const before = service.tokenRequests.length;

      const tallies = await Promise.all(replicas.map((target) => calls(target, 100)));

      expect(tallies).toEqual([{ '200': 100 }, { '200': 100 }, { '200': 100 }]);
      const requests = service.tokenRequests.length - before;
      promise('R12', { figure: `${requests} token request for 3 replicas × 100 calls`, bound: '1' });
      expect(requests).toBe(1);
      expect(new Set(service.calls.slice(1).map(({ headers }) => headers.authorization)).size).toBe(1);
    },
    STARTING_PROCESSES_MS,
  );

  it(
    'is requested once more when the requesting replica is killed',
    async () => {
      const [killed, second, third] = await Promise.all([process(10_000), process(20_000), process(20_000)]);
      service.respondToTokenRequest = () =>
        service.tokenRequests.length === 1 ? new Promise<Buffer>(() => {}) : undefined;
      const lost = calls(killed, 100).catch(() => 'killed');
      await waitFor('the token request', () => service.tokenRequests.length === 1);
      const waiting = [calls(second, 100), calls(third, 100)];
      await killed.stop('SIGKILL');

      expect(await Promise.all(waiting)).toEqual([{ '200': 100 }, { '200': 100 }]);
      promise('R12', {
        figure: `${service.tokenRequests.length} token requests when the requesting replica is killed`,
        bound: '2',
      });
      expect(service.tokenRequests).toHaveLength(2);
      expect(await lost).toBe('killed');
    },
    STARTING_PROCESSES_MS,
  );

  itAtLength('turns red with a promise within the process only', async () => {
    class Alone extends TokenStore {
      private row: Awaited<ReturnType<TokenStore['read']>> | undefined;
      override async read() {
        return this.row ?? super.read();
      }
      override readonly leases = {
        runUnderLease: async (_id: string, signal: AbortSignal, work: (lease: Lease) => Promise<number>) => {
          await work({ token: 'lease', signal, isCertain: () => true });
          return true;
        },
      } as Leases;
      override async save(_: string, { value: token }: Token): Promise<TokenRow> {
        const later = new Date(Date.now() + 1e6);
        this.row = { ...(await super.read()), token, expiresAt: later, renewAt: later };
        return this.row;
      }
    }
    const replicas = [1, 2, 3].map(() => replica({}, (...given) => new Alone(...given)));
    const all = await Promise.all(replicas.flatMap((one) => Array.from({ length: 100 }, () => one.read())));
    expect(tally(all)).toEqual({ '200': 300 });
    expect(service.tokenRequests.length).toBe(3);
  });
});

describe('the tenant token', () => {
  it('is requested as in interface section 4.1, and sent as Bearer whatever token_type is', async () => {
    await replica().read();
    expect(service.tokenRequests[0]).toMatchObject({
      method: 'POST',
      path: '/api/v1/ssa/oauth/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded', apikey: 'api-key-canary-1' },
      body: 'grant_type=client_credentials&client_id=client-id-canary-2&client_secret=client-secret-canary-3&scope=pvcurtailment',
    });
    expect(service.tokenRequests[0]!.headers).not.toHaveProperty('authorization');
    expect(service.calls[0]!.headers.authorization).toBe('Bearer token-1-canary');
  });

  it('survives a restart, encrypted', async () => {
    await replica().read();
    await replica().read();
    expect(service.tokenRequests).toHaveLength(1);
    const [row] = await replica().database.query<{ text: string }>(
      `SELECT encode(token_ciphertext, 'escape') || row_to_json(t)::text AS text FROM remote_tokens t`,
    );
    expect(row!.text).not.toMatch(/canary/);
  });

  it('costs no query while it is valid', async () => {
    const one = replica();
    await one.read();
    await one.database.query('ALTER TABLE remote_tokens RENAME TO elsewhere');
    expect(tally(await Promise.all(Array.from({ length: 50 }, one.read)))).toEqual({ '200': 50 });
    const warn = jest.spyOn(Logger.prototype, 'warn');
    expect(await replica().read()).toMatchObject({ kind: 'not_sent', reason: 'token_unavailable' });
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('could not be read or stored'));
    warn.mockRestore();
    await one.database.query('ALTER TABLE elsewhere RENAME TO remote_tokens');
  });

  it('is renewed by one replica after 80 to 90 % of its lifetime, while calls continue', async () => {
    const [first, second, third] = [replica(), replica(), replica()];
    await first.read();
    await first.database.query(`UPDATE remote_tokens SET renew_at = clock_timestamp() - interval '1 ms'`);
    let issue: (() => void) | undefined;
    service.respondToTokenRequest = () => new Promise((resolve) => (issue = () => resolve(undefined)));
    const respond = await waitFor('the token request', async () => {
      await third.read();
      return issue;
    });
    const all = await Promise.all([second, third].flatMap((one) => Array.from({ length: 20 }, one.read)));
    expect(tally(all)).toEqual({ '200': 40 });
    // All calls used the old token, so no call waited for the renewal.
    expect(service.calls.every(({ headers }) => headers.authorization === 'Bearer token-1-canary')).toBe(
      true,
    );
    respond();
    await waitFor('the new token to be used', async () => {
      await third.read();
      return service.calls.at(-1)!.headers.authorization === 'Bearer token-2-canary';
    });
    expect(service.tokenRequests).toHaveLength(2);
  });

  it('is used without a wait for its renewal', async () => {
    const one = replica();
    await one.read();
    await one.database.query(`UPDATE remote_tokens SET renew_at = clock_timestamp() - interval '1 ms'`);
    let renew = () => {};
    const renewal = new Promise<void>((resolve) => (renew = resolve));
    service.respondToTokenRequest = async () => {
      await renewal;
      return undefined;
    };
    one.tokens['cached']!.renewAt = 0;
    expect(tally([await one.read()])).toEqual({ '200': 1 });
    await waitFor('the renewal', () => service.tokenRequests.length === 2);
    expect(tally(await Promise.all(Array.from({ length: 5 }, one.read)))).toEqual({ '200': 5 });
    renew();
    await waitFor('the new token to be used', async () => {
      await one.read();
      return service.calls.at(-1)!.headers.authorization === 'Bearer token-2-canary';
    });
  });

  it('stays in use when its early renewal fails, whatever the reason', async () => {
    const one = replica();
    await one.read();
    for (const status of [500, 401]) {
      service.respondToTokenRequest = () => Buffer.from(`HTTP/1.1 ${status} X\r\ncontent-length: 0\r\n\r\n`);
      await one.database.query(
        `UPDATE remote_tokens SET renew_at = clock_timestamp() - interval '1 ms', next_attempt_at = NULL`,
      );
      const before = service.tokenRequests.length;
      const fresh = replica();
      await fresh.read();
      await fresh.read();
      await waitFor('the attempt to renew', () => service.tokenRequests.length === before + 1);
      await waitFor('its failure to be recorded', async () =>
        (await fresh.store.getStatus()).lastError?.includes(`status ${status}`),
      );
      expect(tally(await Promise.all(Array.from({ length: 10 }, replica().read)))).toEqual({ '200': 10 });
      expect(await fresh.store.getStatus()).toMatchObject({ state: 'valid', rejectedAt: null });
    }
  });

  it('announces that its renewal is refused before the last valid token expires', async () => {
    const one = replica();
    await one.read();
    service.respondToTokenRequest = () => Buffer.from(`HTTP/1.1 401 X\r\ncontent-length: 0\r\n\r\n`);
    await one.database.query(`UPDATE remote_tokens SET renew_at = clock_timestamp() - interval '1 ms'`);
    const fresh = replica();
    await fresh.read();
    // This call begins the renewal.
    await fresh.read();
    const announced = () =>
      one.database.query(`SELECT FROM domain_events WHERE name = 'remote.credentials_rejected'`);
    await waitFor('the event', async () => (await announced()).length === 1);
    expect(await fresh.read()).toMatchObject({ kind: 'response' });
  });

  it('is obtained anew when the credentials, the service or the encryption key change', async () => {
    await replica().read();
    const changes = {
      SCS_CLIENT_ID: 'another-client',
      SCS_CLIENT_SECRET: 'another-client-secret',
      SCS_API_KEY: 'another-api-key',
      SCS_SCOPE: 'another-scope',
      SCS_BASE_URL: `${service.url}/other`,
      ENCRYPTION_KEYS: Buffer.alloc(32, 'another key').toString('base64'),
    };
    const changed: Record<string, string> = {};
    for (const [name, value] of Object.entries(changes)) {
      changed[name] = value;
      const before = service.tokenRequests.length;
      expect(tally([await replica(changed).read()])).toEqual({ '200': 1 });
      expect(service.tokenRequests).toHaveLength(before + 1);
    }
  });

  it('is not available, without a storm, while the token endpoint fails', async () => {
    service.respondToTokenRequest = () =>
      Buffer.from('HTTP/1.1 500 X\r\nretry-after: 60\r\ncontent-length: 0\r\n\r\n');
    const [one, other] = [replica(), replica()];
    const all = await Promise.all([one, other].flatMap((each) => Array.from({ length: 100 }, each.read)));
    expect(tally(all)).toEqual({ 'not_sent token_unavailable': 200 });
    expect(all[0]).toMatchObject({ retryAfterMs: expect.any(Number) });
    expect(service.tokenRequests).toHaveLength(1);
    expect(service.calls).toHaveLength(0);
    service.respondToTokenRequest = undefined;
    await one.database.query(
      `UPDATE remote_tokens SET next_attempt_at = clock_timestamp() - interval '1 ms'`,
    );
    const fresh = replica();
    await waitFor('a token', async () => (await fresh.read()).kind === 'response');
    expect(service.tokenRequests).toHaveLength(2);
  });

  it('has not failed if the process stops while it is requested', async () => {
    service.respondToTokenRequest = () => new Promise(() => {});
    const one = replica();
    const call = one.read();
    await waitFor('the token request', () => service.tokenRequests.length === 1);
    one.tokens.onModuleDestroy();
    expect(await call).toMatchObject({ kind: 'not_sent', reason: 'stopping' });
    expect(await one.store.getStatus()).toMatchObject({ failures: 0, lastError: null });
  });

  it('is told as trouble if something responds to the token request with a 404 three times in a row', async () => {
    service.respondToTokenRequest = () => reply(404, '{"message":"Resource not found"}');
    const one = replica();
    const announced = jest.spyOn(one.remote.peers, 'announce');
    for (let request = 1; request <= 3; request++) {
      expect(announced).not.toHaveBeenCalled();
      await waitFor('a token request', async () => {
        await one.database.query(
          `UPDATE remote_tokens SET next_attempt_at = clock_timestamp() - interval '1 ms'`,
        );
        await one.read();
        return service.tokenRequests.length === request;
      });
      const { health, lastError } = one.remote.status().operations.token;
      expect([health, lastError]).toEqual(['degraded', expect.stringContaining('status 404')]);
    }
    expect(announced).toHaveBeenCalledWith('token', expect.stringContaining('status 404'));
    announced.mockRestore();
  });

  it('is shown by status with everything but its value', async () => {
    const one = replica();
    expect(await one.store.getStatus()).toMatchObject({ state: 'none', generation: 0, ageSeconds: null });
    const before = Date.now();
    await one.read();
    const status = await one.store.getStatus();
    expect(status).toMatchObject({
      state: 'valid',
      generation: 1,
      expiresInRaw: '1209600',
      tokenType: 'pvcurtailment',
      rejectedAt: null,
    });
    const lastsFrom = status.expiresAt!.getTime() - 14 * 86_400_000;
    // The request was sent meanwhile. The database stores whole milliseconds.
    expect(lastsFrom).toBeGreaterThanOrEqual(before - 1);
    expect(lastsFrom).toBeLessThanOrEqual(status.obtainedAt!.getTime() + 1);
    expect(JSON.stringify(status)).not.toContain('canary');
    await expire(one);
    expect((await one.store.getStatus()).state).toBe('expired');
  });
});

import { Logger } from '@nestjs/common';
import { Cipher } from '../../../src/platform/crypto/cipher.js';
import { Database } from '../../../src/platform/database/database.js';
import type { Environment } from '../../../src/platform/env/environment.js';
import { readEnvironment } from '../../../src/platform/env/read-environment.js';
import type { Sent } from '../../../src/remote/outcome.rules.js';
import { Responses } from '../../../src/remote/responses.service.js';
import { Remote } from '../../../src/remote/remote.service.js';
import { AuthorisedRemote } from '../../../src/auth/authorised-remote.service.js';
import { TenantTokens } from '../../../src/auth/tenant-tokens.service.js';
import { TokenStore } from '../../../src/auth/token.store.js';
import { testEnvironment } from '../../setup/test-environment.js';
import {
  CREDENTIALS,
  type RawRequest,
  type RawServer,
  readSession,
  reply,
  startRawServer,
} from '../remote/fixture.js';

Logger.overrideLogger(false);

export interface TokenService extends RawServer {
  readonly tokenRequests: RawRequest[];
  readonly calls: RawRequest[];
  /** Makes the response to a token request. If undefined is returned, the service issues a token. */
  respondToTokenRequest:
    ((request: RawRequest) => Promise<Buffer | undefined> | Buffer | undefined) | undefined;
  readonly accepted: Set<string>;
  /** Returns whether the response to a call is 401. True: to every call. Token requests still succeed. */
  refuseCalls: boolean | ((call: RawRequest, token: string) => boolean);
}

export async function startTokenService(expiresIn: unknown = 1_209_600): Promise<TokenService> {
  const tokenRequests: RawRequest[] = [];
  const calls: RawRequest[] = [];
  const service = Object.assign(
    await startRawServer((socket, request) => {
      void respond(request).then((text) => socket.write(text));
    }),
    {
      tokenRequests,
      calls,
      accepted: new Set<string>(),
      refuseCalls: false,
      respondToTokenRequest: undefined,
    } as Omit<TokenService, keyof RawServer>,
  );
  const respond = async (request: RawRequest): Promise<Buffer> => {
    if (request.path.endsWith('/oauth/token')) {
      tokenRequests.push(request);
      const special = await service.respondToTokenRequest?.(request);
      if (special) return special;
      const token = `token-${tokenRequests.length}-canary`;
      service.accepted.add(token);
      return reply(
        200,
        JSON.stringify({ access_token: token, expires_in: expiresIn, token_type: 'pvcurtailment' }),
      );
    }
    calls.push(request);
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    const { refuseCalls } = service;
    const isRefused = typeof refuseCalls === 'function' ? refuseCalls(request, token) : refuseCalls;
    return isRefused || !service.accepted.has(token) ? reply(401, '') : reply(200, '{}');
  };
  return service;
}

export function replicaEnvironment(database: string, service: RawServer, timeoutMs = 20_000) {
  return {
    ...testEnvironment(),
    ...CREDENTIALS,
    ROLE: 'api',
    DATABASE_URL: database,
    SCS_BASE_URL: service.url,
    SCS_TIMEOUT_MS: `${timeoutMs}`,
  };
}

export interface Replica {
  readonly authorised: AuthorisedRemote;
  readonly remote: Remote;
  readonly tokens: TenantTokens;
  readonly store: TokenStore;
  readonly database: Database;
  read(): Promise<Sent>;
  close(): Promise<void>;
}

/** Starts a replica in the test's process, with its own connections and caches. */
export function startReplica(
  variables: Record<string, string>,
  storeFor = (database: Database, cipher: Cipher, environment: Environment) =>
    new TokenStore(database, cipher, environment),
): Replica {
  const environment = readEnvironment(variables);
  const database = new Database(environment);
  const store = storeFor(database, new Cipher(environment), environment);
  const remote = new Remote(environment);
  const responses = new Responses(remote);
  const tokens = new TenantTokens(store, remote, responses, environment);
  const authorised = new AuthorisedRemote(remote, tokens, tokens);
  return {
    authorised,
    remote,
    database,
    tokens,
    store,
    read: () => authorised.send(readSession, 'user'),
    close: async () => {
      await remote.onApplicationShutdown();
      await database.onApplicationShutdown();
    },
  };
}

/** Counts calls by outcome, for instance `{ '200': 99, 'not_sent credentials_rejected': 1 }`. */
export function tally(all: readonly Sent[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const sent of all) {
    const name = sent.kind === 'response' ? `${sent.response.status}` : `${sent.kind} ${sent.reason}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

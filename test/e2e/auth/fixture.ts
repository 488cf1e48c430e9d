import { Logger } from '@nestjs/common';
import { Cipher } from '../../../src/platform/crypto/cipher.js';
import { Database } from '../../../src/platform/database/database.js';
import type { Environment } from '../../../src/platform/env/environment.js';
import { readEnvironment } from '../../../src/platform/env/read-environment.js';
import type { Sent } from '../../../src/remote/outcome.rules.js';
import { ContractDrift } from '../../../src/remote/drift/contract-drift.service.js';
import { DriftStore } from '../../../src/remote/drift/drift.store.js';
import { Remote } from '../../../src/remote/remote.service.js';
import { AuthService } from '../../../src/auth/auth.service.js';
import { AuthorisedRemote } from '../../../src/auth/authorised-remote.service.js';
import { TenantTokens } from '../../../src/auth/tenant-tokens.service.js';
import { TokenRenewal } from '../../../src/auth/token-renewal.service.js';
import { TokenStore } from '../../../src/auth/token.store.js';
import { TenantTokenStrategy } from '../../../src/auth/user-token.strategy.js';
import { testEnvironment } from '../../setup/test-environment.js';
import {
  CREDENTIALS,
  type RawRequest,
  type RawServer,
  readSession,
  reply,
  startRawServer,
} from '../remote/fixture.js';

// What these tests provoke is not worth a warning in their output.
Logger.overrideLogger(false);

/** What the remote service does with tokens, and what it has been asked. */
export interface TokenService extends RawServer {
  readonly tokenRequests: RawRequest[];
  readonly calls: RawRequest[];
  /** Answers a token request in its place; undefined leaves it to the service. */
  answerToken: ((request: RawRequest) => Promise<Buffer | undefined> | Buffer | undefined) | undefined;
  /** Tokens it accepts at the moment. */
  readonly accepted: Set<string>;
  /** 401 to every call, whatever the token; tokens are still given out. */
  refuseCalls: boolean;
}

export async function startTokenService(expiresIn: unknown = 1_209_600): Promise<TokenService> {
  const tokenRequests: RawRequest[] = [];
  const calls: RawRequest[] = [];
  const service = Object.assign(
    await startRawServer((socket, request) => {
      void answer(request).then((text) => socket.write(text));
    }),
    { tokenRequests, calls, accepted: new Set<string>(), refuseCalls: false, answerToken: undefined } as Omit<
      TokenService,
      keyof RawServer
    >,
  );
  const answer = async (request: RawRequest): Promise<Buffer> => {
    if (request.path.endsWith('/oauth/token')) {
      tokenRequests.push(request);
      const special = await service.answerToken?.(request);
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
    return service.refuseCalls || !service.accepted.has(token) ? reply(401, '') : reply(200, '{}');
  };
  return service;
}

export function replicaEnvironment(
  database: string,
  service: RawServer,
  timeoutMs = 20_000,
): Record<string, string> {
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
  readonly auth: AuthService;
  readonly database: Database;
  read(): Promise<Sent>;
  close(): Promise<void>;
}

/** What one replica knows, in this process but with connections and memory of its own. */
export function startReplica(
  variables: Record<string, string>,
  storeFor = (database: Database, cipher: Cipher, environment: Environment) =>
    new TokenStore(database, cipher, environment),
): Replica {
  const environment = readEnvironment(variables);
  const database = new Database(environment);
  const store = storeFor(database, new Cipher(environment), environment);
  const remote = new Remote(environment);
  const drift = new ContractDrift(new DriftStore(database));
  const tokens = new TenantTokens(store, new TokenRenewal(store, remote, drift, environment), environment);
  const authorised = new AuthorisedRemote(remote, tokens, new TenantTokenStrategy(tokens));
  return {
    authorised,
    remote,
    database,
    auth: new AuthService(store),
    read: () => authorised.send(readSession, 'user'),
    close: async () => {
      await remote.onApplicationShutdown();
      await database.onApplicationShutdown();
    },
  };
}

/** `{ '200': 99, 'not_sent credentials_rejected': 1 }` */
export function tally(all: readonly Sent[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const sent of all) {
    const name = sent.kind === 'answered' ? `${sent.answer.status}` : `${sent.kind} ${sent.reason}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

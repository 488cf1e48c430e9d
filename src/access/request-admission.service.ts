import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Environment } from '../platform/env/environment.js';
import { Problem } from '../platform/problem/problem.js';
import { Authentication } from './authentication.service.js';
import { clientNetwork } from './client-network.js';
import { RateLimit } from './rate-limit.js';
import type { Principal, Scope } from './scopes.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** From `@RequireScope()`; a route without it is public. */
    requiredScope?: Scope;
  }
}

/**
 * Requests with an invalid key per client network. A key of 256 bits cannot be guessed; the limit protects the database, which each such
 * request would query. Twenty are enough for a person who mistyped a key.
 */
const FAILURES_A_MINUTE = 20;
const MINUTE_MS = 60_000;
/** The burst, in seconds' worth of requests, that a key may send, so that an app which was busy elsewhere can catch up. */
const BURST_SECONDS = 10;
/** Stands in for the id that the administrator key lacks. */
const ADMINISTRATOR = 'environment';

/**
 * Runs before every route that needs a key, before the body of the request is read. Finds the principal and applies the rate limits; the
 * guard checks the scope.
 */
@Injectable()
export class RequestAdmission implements OnModuleInit {
  private readonly failures = new RateLimit(FAILURES_A_MINUTE, MINUTE_MS);
  private readonly requests: RateLimit | undefined;

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly authentication: Authentication,
    private readonly environment: Environment,
  ) {
    const perSecond = environment.API_MAX_REQUESTS_PER_SECOND;
    if (perSecond > 0) this.requests = new RateLimit(BURST_SECONDS * perSecond, BURST_SECONDS * 1_000);
  }

  onModuleInit(): void {
    // A process that only polls has no server.
    const server = this.host.httpAdapter?.getInstance<FastifyInstance>();
    server?.addHook('onRequest', (request, _reply, done) => {
      if (request.routeOptions.config.requiredScope === undefined) return done();
      const key = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
      // A cached key needs no promise: with a promise and a second hash, admission took a twentieth of the CPU of reading a session.
      const known = this.authentication.findKnown(key);
      if (known !== undefined) return done(this.admit(request, known));
      const network = clientNetwork(request.ip, request.socket.remoteAddress ?? '');
      this.identify(key, network).then((principal) => done(this.admit(request, principal)), done);
    });
  }

  private admit(request: FastifyRequest, principal: Principal): Problem | undefined {
    request.principal = principal;
    const waitMs = this.requests?.take(principal.id ?? ADMINISTRATOR, performance.now()) ?? 0;
    if (waitMs === 0) return undefined;
    const { API_MAX_REQUESTS_PER_SECOND: perSecond } = this.environment;
    return tooMany(`A key may make ${perSecond} requests a second`, waitMs);
  }

  /**
   * Never refuses a key that was valid here before because of other clients at the same address. Other keys are counted before the look-up,
   * not after a failure: otherwise a thousand concurrent ones would all be looked up before the first has failed.
   */
  private async identify(key: string, network: string): Promise<Principal> {
    const isCounted = !this.authentication.knows(key);
    const waitMs = isCounted ? this.failures.take(network, performance.now()) : 0;
    if (waitMs > 0) throw tooMany('From this address came too many requests without a valid key', waitMs);
    let isRefused = false;
    try {
      const principal = await this.authentication.authenticate(key);
      isRefused = principal === null;
      // The same error for every reason: the reason would help only an attacker.
      if (principal === null)
        throw new Problem('unauthenticated', 'Send a valid API key as Authorization: Bearer <key>');
      return principal;
    } finally {
      if (isCounted && !isRefused) this.failures.giveBack(network);
      if (!isCounted && isRefused) this.failures.take(network, performance.now());
    }
  }
}

const tooMany = (detail: string, waitMs: number): Problem =>
  new Problem('too_many_requests', detail, { retryAfterSeconds: waitMs / 1_000 });

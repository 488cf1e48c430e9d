import { isIP } from 'node:net';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import ipaddr from 'ipaddr.js';
import { Environment } from '../platform/env/environment.js';
import { contextOf, runInContext } from '../platform/http/request-context.js';
import { Problem } from '../platform/problem/problem.js';
import { actAs } from './acting-caller.js';
import { ActiveCallers } from './active-callers.service.js';
import type { PresentedKey } from './api-keys.store.js';
import { Authentication } from './authentication.service.js';
import { OtherCredentials } from './other-credentials.js';
import { RateLimit } from './rate-limit.js';
import { requireScopes, type Principal } from './scopes.js';

/** The most requests a minute with an unknown key, per client network. Each such request queries the database. */
const FAILURES = { amount: 300, periodMs: 60_000 };
/** A key may send the requests of 10 s all at once, so that an app can catch up after a pause. */
const BURST_SECONDS = 10;
/** If a response is sent later than this after its request, the caller is checked again before it is sent. */
const LATE_MS = 2_000;

/**
 * Finds the principal, applies the rate limits and checks the scope before the body of a request is read. Checks the caller again after the
 * body and before a late response. If LOG_REQUESTS is set, logs one line per response. Refuses to start if a route neither requires a scope
 * nor is public.
 */
@Injectable()
export class RequestHooks implements OnModuleInit {
  private readonly logger = new Logger('Request');
  private readonly perSecond = this.environment.API_MAX_REQUESTS_PER_SECOND;
  private readonly failures = new RateLimit('invalid-key', FAILURES);
  private readonly requests = new RateLimit('default', {
    amount: BURST_SECONDS * this.perSecond,
    periodMs: BURST_SECONDS * 1_000,
  });
  /** Undefined if the process has no HTTP server. */
  private readonly server: FastifyInstance | undefined;

  constructor(
    host: HttpAdapterHost,
    private readonly authentication: Authentication,
    private readonly others: OtherCredentials,
    private readonly callers: ActiveCallers,
    private readonly environment: Environment,
  ) {
    this.server = host.httpAdapter?.getInstance<FastifyInstance>();
    // Adds this hook before onModuleInit, because Nest declares the routes before it calls onModuleInit.
    this.server?.addHook('onRoute', requireAccess);
  }

  onModuleInit(): void {
    const { LOG_REQUESTS, NODE_ENV } = this.environment;
    const needsKey = ({ routeOptions: { config } }: FastifyRequest): boolean =>
      config.requiredScopes !== undefined ||
      (config.isPublic === 'outside production' && NODE_ENV === 'production');
    this.server?.addHook('onRequest', async (request, reply) => {
      reply.headers(request.routeOptions.config.headers ?? {});
      if (!needsKey(request)) return;
      const principal = await this.identify(request, reply);
      request.principal = principal;
      if (this.perSecond > 0) {
        const taken = this.requests.take(principal.id ?? principal.name, performance.now());
        refuseBeyond(taken, reply, `A key may make ${this.perSecond} requests a second`);
      }
      requireScopes(principal, request.routeOptions.config);
    });
    this.server?.addHook('preHandler', (request, reply, done) => {
      if (!needsKey(request)) return done();
      if (request.body === undefined) return actAs(request.principal!, done);
      const act = (principal: Principal): void => actAs(principal, done);
      // Enters the context of the request again, which is lost if the body arrived later than the headers.
      runInContext(contextOf(request), () => void this.identifyAgain(request, reply).then(act, done));
    });
    this.server?.addHook('preSerialization', (request, reply, payload, done) => {
      const { principal } = request;
      if (principal === undefined || reply.statusCode >= 400 || reply.elapsedTime < LATE_MS)
        return done(null, payload);
      this.requireStill(principal).then(() => done(null, payload), done);
    });
    if (LOG_REQUESTS) this.server?.addHook('onResponse', async (request, reply) => this.log(request, reply));
  }

  /** Logs the route instead of the URL, because the ids and the query of a URL may be personal or secret. */
  private log(request: FastifyRequest, { statusCode, elapsedTime }: FastifyReply): void {
    const { method, principal, routeOptions } = request;
    const route = routeOptions.url ?? 'none';
    this.logger.log({
      message: `${method} ${route} ${statusCode}`,
      method,
      route,
      status: statusCode,
      durationMs: Math.round(elapsedTime),
      ...(principal && { keyId: principal.id ?? principal.name }),
      ...contextOf(request),
    });
  }

  /** Checks the caller again after the body, because a client can hold back the body of a request until its key has been revoked. */
  private async identifyAgain(request: FastifyRequest, reply: FastifyReply): Promise<Principal> {
    const principal = await this.identify(request, reply);
    requireScopes(principal, request.routeOptions.config);
    return (request.principal = principal);
  }

  /** Throws Problem unauthenticated if the caller may no longer act. If that cannot be read, a response with a known outcome is sent. */
  private async requireStill(principal: Principal): Promise<void> {
    await this.callers.require(principal).catch((error: unknown) => {
      if (error instanceof Problem) throw error;
    });
  }

  /** Returns the principal of the key, or of the session if the request has one and no key. */
  private async identify(request: FastifyRequest, reply: FastifyReply): Promise<Principal> {
    const internal = this.others.findInternal(keyOf(request));
    if (internal !== undefined) return internal;
    const session = request.headers.authorization === undefined ? this.others.findSession(request) : null;
    const caller = session?.caller ?? { key: keyOf(request) };
    if ('key' in caller) request.presentedKey = caller.key;
    const principal = 'key' in caller ? await this.identifyKey(caller.key, request, reply) : caller.principal;
    return session === null ? principal : { ...principal, consoleUntil: session.expiresAt };
  }

  /** Counts an unknown key as a failure before its look-up, so that concurrent invalid keys cannot all reach the database. */
  private async identifyKey(key: PresentedKey, request: FastifyRequest, reply: FastifyReply) {
    const network = clientNetwork(request.ip, request.socket.remoteAddress ?? '');
    const counted = this.authentication.mustQuery(key)
      ? this.failures.take(network, performance.now())
      : undefined;
    if (counted !== undefined && counted.waitMs > 0)
      refuseBeyond(counted, reply, 'This address sent too many requests without a valid key');
    let principal: Principal | null | undefined;
    try {
      principal = await this.authentication.authenticate(key);
    } finally {
      // Undoes the count if the key is valid or its look-up threw.
      if (counted !== undefined && principal !== null) this.failures.giveBack(network);
    }
    if (principal !== null) return principal;
    reply.headers(counted?.headers ?? {});
    // The error is the same for every reason, because the reason would help only an attacker.
    throw new Problem('unauthenticated', 'Send a valid API key as Authorization: Bearer <key>');
  }
}

const keyOf = ({ headers }: FastifyRequest): string =>
  /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? '';

function requireAccess({ method, url, config }: RouteOptions): void {
  if (!config?.isPublic && config?.requiredScopes === undefined)
    throw new Error(`${String(method)} ${url} needs @Operation() or @Public()`);
}

/** Returns a client's IPv4 address or IPv6 network. `given` may come from a proxy; if it is not an IP address, `ofSocket` is used. */
export function clientNetwork(given: string, ofSocket: string): string {
  const text = isIP(given) === 0 ? ofSocket : given;
  // The address of a closed socket is empty.
  if (!ipaddr.isValid(text)) return text;
  // Converts an IPv4-mapped IPv6 address to IPv4.
  const address = ipaddr.process(text);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  // Takes four groups: a /64 is the smallest IPv6 network that a household or a rented server gets.
  const groups = address.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(':')}::/64`;
}

type Taken = ReturnType<RateLimit['take']>;

function refuseBeyond({ waitMs, headers }: Taken, reply: FastifyReply, detail: string): void {
  reply.headers(headers);
  if (waitMs > 0) throw new Problem('too_many_requests', detail, { retryAfterSeconds: waitMs / 1_000 });
}

import { isIP } from 'node:net';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { Environment } from '../platform/env/environment.js';
import { contextOf } from '../platform/http/request-context.js';
import { Problem } from '../platform/problem/problem.js';
import { Authentication } from './authentication.service.js';
import { RateLimit, type Taken } from './rate-limit.js';
import type { Principal, Scope } from './scopes.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** From `@Operation()`; a route without it is public. */
    requiredScope?: Scope;
  }
}

/** The most requests with an invalid key per client network. Each such request queries the database. */
const FAILURES_A_MINUTE = 20;
const MINUTE_MS = 60_000;
/** A key may send at once all requests that it may send in this many seconds, so that an app can catch up after a pause. */
const BURST_SECONDS = 10;

/** Finds the principal and applies the rate limits before the body of a request is read. With LOG_REQUESTS, logs one line per response. */
@Injectable()
export class RequestHooks implements OnModuleInit {
  private readonly logger = new Logger('Request');
  private readonly failures = new RateLimit('invalid-key', FAILURES_A_MINUTE, MINUTE_MS);
  private readonly requests: RateLimit | undefined;

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly authentication: Authentication,
    private readonly environment: Environment,
  ) {
    const perSecond = environment.API_MAX_REQUESTS_PER_SECOND;
    if (perSecond > 0)
      this.requests = new RateLimit('default', BURST_SECONDS * perSecond, BURST_SECONDS * 1_000);
  }

  onModuleInit(): void {
    // Without an HTTP server, there is no adapter.
    const server = this.host.httpAdapter?.getInstance<FastifyInstance>();
    const { API_MAX_REQUESTS_PER_SECOND, LOG_REQUESTS } = this.environment;
    server?.addHook('onRequest', async (request, reply) => {
      if (request.routeOptions.config.requiredScope === undefined) return;
      const key = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
      request.principal = await this.identify(key, request, reply);
      const { id, name } = request.principal;
      const taken = this.requests?.take(id ?? name, performance.now());
      if (taken !== undefined)
        refuseBeyond(taken, reply, `A key may make ${API_MAX_REQUESTS_PER_SECOND} requests a second`);
    });
    if (LOG_REQUESTS) server?.addHook('onResponse', async (request, reply) => this.log(request, reply));
  }

  /** Logs the route, not the URL: a URL's ids and query may be personal or secret. */
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

  /** Counts an unknown key as a failure before it is looked up, so that concurrent invalid keys cannot all reach the database. */
  private async identify(key: string, request: FastifyRequest, reply: FastifyReply): Promise<Principal> {
    const network = clientNetwork(request.ip, request.socket.remoteAddress ?? '');
    const count = () => this.failures.take(network, performance.now());
    const counted = this.authentication.knows(key) ? undefined : count();
    if (counted !== undefined && counted.waitMs > 0)
      refuseBeyond(counted, reply, 'This address sent too many requests without a valid key');
    let principal: Principal | null | undefined;
    try {
      principal = await this.authentication.authenticate(key);
    } finally {
      // Undoes the count if the key is valid or the look-up threw.
      if (counted !== undefined && principal !== null) this.failures.giveBack(network);
    }
    if (principal !== null) return principal;
    reply.headers((counted ?? count()).headers);
    // The same error for every reason, because the reason would help only an attacker.
    throw new Problem('unauthenticated', 'Send a valid API key as Authorization: Bearer <key>');
  }
}

/** Returns a client's IPv4 address or IPv6 network. `given` may come from a proxy; if it is not an IP address, uses `ofSocket`. */
export function clientNetwork(given: string, ofSocket: string): string {
  const text = isIP(given) === 0 ? ofSocket : given;
  // A closed socket has no address.
  if (!ipaddr.isValid(text)) return text;
  // Converts an IPv4-mapped IPv6 address to IPv4.
  const address = ipaddr.process(text);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  // Four groups are a /64, the smallest IPv6 network that a household or a rented server gets.
  const groups = address.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(':')}::/64`;
}

/** Sets the rate-limit headers. Throws Problem too_many_requests if the limit is exceeded. */
function refuseBeyond({ waitMs, headers }: Taken, reply: FastifyReply, detail: string): void {
  reply.headers(headers);
  if (waitMs > 0) throw new Problem('too_many_requests', detail, { retryAfterSeconds: waitMs / 1_000 });
}

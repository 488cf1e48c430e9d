import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Cipher } from '../platform/crypto/cipher.js';
import { Environment } from '../platform/env/environment.js';
import { IdempotencyKeys } from '../idempotency/idempotency-keys.store.js';
import type { SignInFlow } from './identity-provider.client.js';
import { cookieNames, SealedCookie } from './sealed-cookie.js';

/** The request that returns from the provider comes from another site, so browsers do not send a Strict cookie with it. */
const COOKIE = {
  path: '/console',
  sameSite: 'Lax',
  maxAgeMs: 10 * 60_000,
  context: 'console/flow',
} as const;
const PREFIX = 'pvo_console_flow_';
/** The most sign-ins that a browser can have begun: more cookies would make the headers of its requests too long. */
const MOST_FLOWS = 5;
/** The most flows in the header of a request that are read. A browser never has as many, but any client can send hundreds. */
const MOST_READ = 2 * MOST_FLOWS;

type StoredFlow = SignInFlow & { readonly expiresAt: number };

/** Keeps the flows of sign-ins in the browser that began them. Each flow has a cookie of its own, so that two tabs can sign in at once. */
@Injectable()
export class SignInFlows {
  constructor(
    private readonly environment: Environment,
    private readonly cipher: Cipher,
    private readonly used: IdempotencyKeys,
  ) {}

  /** Returns the cookie of a flow. Its name is the beginning of `state`. */
  cookieOf(state: string): SealedCookie<StoredFlow> {
    return this.cookieNamed(PREFIX + state.slice(0, 16).replace(/[^\w-]/g, ''));
  }

  /** Adds a flow. Deletes the oldest ones beyond MOST_FLOWS. */
  add(request: FastifyRequest, reply: FastifyReply, flow: SignInFlow): void {
    cookieNames(request.headers.cookie, PREFIX)
      .slice(0, MOST_READ)
      .map((name) => this.cookieNamed(name))
      .map((cookie) => ({ cookie, expiresAt: cookie.read(request)?.expiresAt ?? 0 }))
      .sort((one, other) => other.expiresAt - one.expiresAt)
      .slice(MOST_FLOWS - 1)
      .forEach(({ cookie }) => cookie.delete(request, reply));
    this.cookieOf(flow.state).set(request, reply, { ...flow, expiresAt: Date.now() + COOKIE.maxAgeMs });
  }

  /** Returns the flow with this state, and ends it: it works once, at any replica. Returns null if there is none in this browser. */
  async take(request: FastifyRequest, reply: FastifyReply, state: string): Promise<SignInFlow | null> {
    const cookie = this.cookieOf(state);
    const flow = cookie.read(request);
    cookie.delete(request, reply);
    if (flow === null) return null;
    const use = hash('sha256', `console/flow/${flow.state}`, 'base64url');
    return (await this.used.isFirst(use)) ? flow : null;
  }

  private cookieNamed(name: string): SealedCookie<StoredFlow> {
    return new SealedCookie(this.environment, this.cipher, { ...COOKIE, name });
  }
}

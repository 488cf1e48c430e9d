import { Controller, Get, Logger, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientNetwork } from '../access/request-hooks.service.js';
import { RateLimit } from '../access/rate-limit.js';
import { redact } from '../platform/redaction/redaction.js';
import { Environment } from '../platform/env/environment.js';
import { baseUrlOf } from '../platform/http/origins.rules.js';
import { Public } from '../platform/http/public.decorator.js';
import { Problem } from '../platform/problem/problem.js';
import { requireConsole } from './console-page.controller.js';
import { SESSION_MS } from './console-session.rules.js';
import { ConsoleSessions } from './console-sessions.service.js';
import { ConsoleSignIns } from './console-sign-in.service.js';
import { IdentityProvider, type SignInFlow } from './identity-provider.client.js';
import type { Identity } from './identity.rules.js';
import { signInFault } from './sign-in-fault.js';
import { SignInFlows } from './sign-in-flows.service.js';
import { noticePage, NOTICES, type Notice } from './sign-in-notice.js';

/** The most callbacks per client network and minute that begin no session. Each may cause requests to the provider. */
const FAILURES = { amount: 30, periodMs: 60_000 };

/** The sign-in of the console through the identity provider. */
@ApiExcludeController()
@Controller('console')
export class OidcSignInController {
  private readonly logger = new Logger(OidcSignInController.name);
  private readonly failures = new RateLimit('sign-in', FAILURES);

  constructor(
    private readonly provider: IdentityProvider,
    private readonly sessions: ConsoleSessions,
    private readonly signIns: ConsoleSignIns,
    private readonly flows: SignInFlows,
    private readonly environment: Environment,
  ) {}

  /** Redirects to the identity provider. */
  @Get('sign-in')
  @Public()
  async begin(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.requireProvider();
    try {
      const { url, flow } = await this.provider.begin(this.redirectUriOf(request));
      this.flows.add(request, reply, flow);
      void reply.status(302).header('location', url.href).send();
    } catch (error) {
      this.logger.warn(`the identity provider cannot be reached: ${signInFault(error)}`);
      this.send(reply, 'unavailable');
    }
  }

  /** Takes the user who comes back from the identity provider, and begins the session. */
  @Get('callback')
  @Public()
  async finish(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.requireProvider();
    const network = clientNetwork(request.ip, request.socket.remoteAddress ?? '');
    const { waitMs } = this.failures.take(network, performance.now());
    if (waitMs > 0) {
      void reply.header('retry-after', Math.ceil(waitMs / 1_000));
      return this.send(reply, 'tooMany');
    }
    const callback = this.callbackOf(request);
    const flow = await this.flows.take(request, reply, callback.searchParams.get('state') ?? '');
    if (flow === null) return this.refuseWithoutFlow(reply, callback);
    const identity = await this.identify(callback, flow);
    if (identity === null) return this.send(reply, 'failed');
    const groups = this.sessions.knownGroups(identity.groups);
    if (groups.length === 0) return this.refuse(reply, identity);
    this.failures.giveBack(network);
    const { subject, name } = identity;
    const session = { kind: 'user', subject, name, groups, expiresAt: Date.now() + SESSION_MS } as const;
    await this.signIns.record(this.sessions.principalOf(session));
    this.sessions.cookie.set(request, reply, session);
    const base = baseUrlOf(request, this.environment.PUBLIC_URL);
    void reply.status(302).header('location', `${base}/console`).send();
  }

  /** Some providers leave the state out of a callback with an error. */
  private refuseWithoutFlow(reply: FastifyReply, { searchParams }: URL): void {
    const error = searchParams.get('error');
    if (error === null) return this.send(reply, 'expired');
    const said = signInFault({ error, error_description: searchParams.get('error_description') });
    this.logger.warn(`a sign-in that this browser has not begun, or that is over, failed: ${said}`);
    this.send(reply, 'failed');
  }

  /** Shows why a user without a known group has no access. */
  private refuse(reply: FastifyReply, { subject, leftOut }: Identity): void {
    const user = `the user ${redact(subject)} of the identity provider`;
    if (leftOut === null) {
      this.logger.warn(`${user} is in no group with scopes`);
      return this.send(reply, 'noGroup');
    }
    this.logger.warn(
      `${user} is in too many groups: instead of the claim "groups", the provider sent "${leftOut}". Have it send only the groups that are assigned to this client, or application roles`,
    );
    this.send(reply, 'groupsLeftOut');
  }

  private callbackOf(request: FastifyRequest): URL {
    const callback = new URL(this.redirectUriOf(request));
    // Replaces only the query, since `new URL(request.url)` throws for some targets in absolute form.
    callback.search = request.url.replace(/^[^?]*/, '');
    return callback;
  }

  private async identify(callback: URL, flow: SignInFlow): Promise<Identity | null> {
    try {
      return await this.provider.finish(callback, flow);
    } catch (error) {
      this.logger.warn(`a sign-in through the identity provider failed: ${signInFault(error)}`);
      return null;
    }
  }

  private redirectUriOf(request: FastifyRequest): string {
    return `${baseUrlOf(request, this.environment.PUBLIC_URL)}/console/callback`;
  }

  private send(reply: FastifyReply, notice: Notice): void {
    void reply
      .status(NOTICES[notice].status)
      .headers({ 'content-type': 'text/html; charset=utf-8', 'x-robots-tag': 'noindex' })
      .send(noticePage(notice));
  }

  private requireProvider(): void {
    requireConsole(this.environment);
    if (this.sessions.signIn !== 'oidc')
      throw new Problem('not_found', 'There is no identity provider: the console signs in with an API key');
  }
}

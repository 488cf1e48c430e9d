import { Controller, Get, Logger, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { redact } from '../../observability/redaction/redaction.js';
import { errorText } from '../../observability/redaction/error-text.js';
import { Cipher } from '../../platform/crypto/cipher.js';
import { Environment } from '../../platform/env/environment.js';
import { baseUrlOf } from '../../platform/http/origins.rules.js';
import { Public } from '../../platform/http/public.decorator.js';
import { Problem } from '../../platform/problem/problem.js';
import { requireConsole } from './console-page.controller.js';
import { SESSION_MS } from './console-session.rules.js';
import { ConsoleSessions } from './console-sessions.service.js';
import { ConsoleSignIns } from './console-sign-in.service.js';
import { IdentityProvider, type Identity, type SignInFlow } from './identity-provider.client.js';
import { SealedCookie } from './sealed-cookie.js';
import { noticePage, NOTICES, type Notice } from './sign-in-notice.js';

/** The request that returns from the provider comes from another site, so browsers do not send a Strict cookie with it. */
const COOKIE = {
  name: 'pvo_console_flow',
  path: '/console/callback',
  sameSite: 'Lax',
  maxAgeMs: 10 * 60_000,
  context: 'console/flow',
} as const;

/** The sign-in of the console through the identity provider. */
@ApiExcludeController()
@Controller('console')
export class OidcSignInController {
  readonly cookie: SealedCookie<SignInFlow & { readonly expiresAt: number }>;
  private readonly logger = new Logger(OidcSignInController.name);

  constructor(
    private readonly provider: IdentityProvider,
    private readonly sessions: ConsoleSessions,
    private readonly signIns: ConsoleSignIns,
    private readonly environment: Environment,
    cipher: Cipher,
  ) {
    this.cookie = new SealedCookie(environment, cipher, COOKIE);
  }

  /** Redirects to the identity provider. */
  @Get('sign-in')
  @Public()
  async begin(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.requireProvider();
    try {
      const { url, flow } = await this.provider.begin(this.redirectUriOf(request));
      this.cookie.set(request, reply, { ...flow, expiresAt: Date.now() + COOKIE.maxAgeMs });
      void reply.status(302).header('location', url.href).send();
    } catch (error) {
      this.logger.warn(`the identity provider cannot be reached: ${errorText(error)}`);
      this.send(reply, 'unavailable');
    }
  }

  /** Takes the user who comes back from the identity provider, and begins the session. */
  @Get('callback')
  @Public()
  async finish(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.requireProvider();
    const flow = this.cookie.read(request);
    this.cookie.delete(request, reply);
    if (flow === null) return this.send(reply, 'expired');
    const identity = await this.identify(request, flow);
    if (identity === null) return this.send(reply, 'failed');
    const groups = this.sessions.knownGroups(identity.groups);
    if (groups.length === 0) {
      this.logger.warn(
        `the user ${redact(identity.subject)} of the identity provider is in no group with scopes`,
      );
      return this.send(reply, 'noGroup');
    }
    const { subject, name } = identity;
    const session = { kind: 'user', subject, name, groups, expiresAt: Date.now() + SESSION_MS } as const;
    await this.signIns.record(this.sessions.principalOf(session));
    this.sessions.cookie.set(request, reply, session);
    const base = baseUrlOf(request, this.environment.PUBLIC_URL);
    void reply.status(302).header('location', `${base}/console`).send();
  }

  private async identify(request: FastifyRequest, flow: SignInFlow): Promise<Identity | null> {
    const callback = new URL(this.redirectUriOf(request));
    // Not `new URL(request.url)`, which throws for some targets in absolute form.
    callback.search = request.url.replace(/^[^?]*/, '');
    try {
      return await this.provider.finish(callback, flow);
    } catch (error) {
      this.logger.warn(`a sign-in through the identity provider failed: ${errorText(error)}`);
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

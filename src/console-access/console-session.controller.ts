import { Body, Controller, Delete, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Environment } from '../platform/env/environment.js';
import { Field } from '../platform/http/field.js';
import { Public } from '../platform/http/public.decorator.js';
import { ownOriginsOf } from '../platform/http/origins.rules.js';
import { bodyOf, PROBLEM_MEDIA_TYPE } from '../platform/problem/problem-response.js';
import { Problem } from '../platform/problem/problem.js';
import { Authentication } from '../access/authentication.service.js';
import { clientNetwork } from '../access/request-hooks.service.js';
import { actorOf, type Principal } from '../access/scopes.js';
import { requireConsole } from './console-page.controller.js';
import { keyHashOf, SESSION_MS, type ConsoleSession } from './console-session.rules.js';
import { ConsoleSessions } from './console-sessions.service.js';
import { ConsoleSignIns } from './console-sign-in.service.js';

class ConsoleSignIn {
  @Field({ required: true, type: String, maxLength: 1_000 })
  key: string;
}

/** Begins the session of the console in a browser with an API key, shows it, and ends it. */
@ApiExcludeController()
@Controller('console/session')
export class ConsoleSessionController {
  constructor(
    private readonly sessions: ConsoleSessions,
    private readonly signIns: ConsoleSignIns,
    private readonly authentication: Authentication,
    private readonly environment: Environment,
  ) {}

  @Post()
  @HttpCode(204)
  @Public()
  async begin(
    @Body() { key }: ConsoleSignIn,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    this.requireOwnOrigin(request);
    if (this.sessions.signIn !== 'key')
      throw new Problem('not_found', 'This console signs in at the identity provider: GET /console/sign-in');
    request.presentedKey = key;
    const network = clientNetwork(request.ip, request.socket.remoteAddress ?? '');
    const keyHash = (await this.signIns.signIn(key, network)).toString('base64');
    const expiresAt = Date.now() + SESSION_MS;
    this.sessions.cookie.set(request, reply, { kind: 'key', keyHash, expiresAt });
  }

  @Get()
  @Public()
  async show(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    requireConsole(this.environment);
    const { signIn } = this.sessions;
    const session = this.sessions.find(request);
    const principal = session === null ? null : await this.principalOf(session);
    if (session === null || principal === null) {
      const problem = new Problem('unauthenticated', 'There is no session, or it is over: sign in');
      void reply.status(401).header('content-type', PROBLEM_MEDIA_TYPE);
      return { ...bodyOf(problem, request.id, this.environment.PUBLIC_URL), signIn };
    }
    const name = session.kind === 'user' ? session.name : principal.name;
    const actor = actorOf({ ...principal, consoleUntil: session.expiresAt });
    const expiresAt = new Date(session.expiresAt).toISOString();
    return { actor, name, scopes: principal.scopes, expiresAt, signIn };
  }

  @Delete()
  @HttpCode(204)
  @Public()
  end(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): void {
    this.requireOwnOrigin(request);
    this.sessions.cookie.delete(request, reply);
  }

  private principalOf(session: ConsoleSession): Promise<Principal | null> | Principal {
    return session.kind === 'key'
      ? this.authentication.authenticate(keyHashOf(session))
      : this.sessions.principalOf(session);
  }

  /**
   * Throws Problem not_found or not_from_console. A form of another origin cannot send JSON or DELETE; a script of another origin gets this
   * error.
   */
  private requireOwnOrigin(request: FastifyRequest): void {
    requireConsole(this.environment);
    const { origin } = request.headers;
    if (origin !== undefined && !ownOriginsOf(request, this.environment.PUBLIC_URL).includes(origin))
      throw new Problem('not_from_console', 'A page of another origin cannot sign in or out');
  }
}

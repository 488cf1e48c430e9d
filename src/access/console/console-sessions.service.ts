import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Cipher } from '../../platform/crypto/cipher.js';
import { Environment } from '../../platform/env/environment.js';
import { ConfigurationError } from '../../platform/env/read-environment.js';
import { baseUrlOf, isLoopback, ownOriginsOf } from '../../platform/http/origins.rules.js';
import { Problem } from '../../platform/problem/problem.js';
import { SCOPES, type Principal, type Scope } from '../scopes.js';
import {
  cookieIn,
  isFromOwnConsole,
  readSession,
  SESSION_MS,
  toSetCookie,
  writeSession,
  type Cookie,
  type ConsoleSession,
  type UserSession,
} from './console-session.rules.js';
import { readGroupScopes, scopesOfGroups, type GroupScopes } from './group-scopes.rules.js';

const COOKIE = { name: 'pvo_console', path: '/', sameSite: 'Strict' } as const;

/** Issues and reads the sessions of the console. A session is stored in its cookie alone, encrypted, so every replica can read it. */
@Injectable()
export class ConsoleSessions {
  readonly signIn: 'key' | 'oidc';
  private readonly groupScopes: GroupScopes<Scope>;
  /** Another provider, client or client secret makes all sessions unreadable, so that changing the secret ends them. */
  private readonly context: string;

  constructor(
    private readonly environment: Environment,
    private readonly cipher: Cipher,
  ) {
    const { CONSOLE_OIDC_ISSUER, CONSOLE_OIDC_CLIENT_ID, CONSOLE_OIDC_CLIENT_SECRET } = environment;
    const { CONSOLE_OIDC_GROUPS } = environment;
    this.signIn = CONSOLE_OIDC_ISSUER === undefined ? 'key' : 'oidc';
    const client = [CONSOLE_OIDC_ISSUER, CONSOLE_OIDC_CLIENT_ID, CONSOLE_OIDC_CLIENT_SECRET];
    this.context = `console/session/${hash('sha256', JSON.stringify(client), 'base64url')}`;
    const read = CONSOLE_OIDC_GROUPS === undefined ? new Map() : readGroupScopes(CONSOLE_OIDC_GROUPS, SCOPES);
    if ('unknown' in read)
      throw new ConfigurationError([`CONSOLE_OIDC_GROUPS must have scopes out of ${SCOPES.join(', ')}`], []);
    this.groupScopes = read;
  }

  /** Sets the cookie of a new session. */
  begin(request: FastifyRequest, reply: FastifyReply, session: ConsoleSession): void {
    this.setCookie(request, reply, { ...COOKIE, value: this.seal(session), maxAgeMs: SESSION_MS });
  }

  end(request: FastifyRequest, reply: FastifyReply): void {
    this.setCookie(request, reply, { ...COOKIE, value: '', maxAgeMs: 0 });
  }

  seal(session: ConsoleSession): string {
    return this.cipher.encrypt(writeSession(session), this.context).toString('base64url');
  }

  /** Returns the session of a request's cookie. Returns null if there is none, if it is over, or if its cookie is not ours. */
  find({ headers }: Pick<FastifyRequest, 'headers'>, now = Date.now()): ConsoleSession | null {
    const cookie = this.environment.CONSOLE ? cookieIn(headers.cookie, COOKIE.name) : undefined;
    if (cookie === undefined) return null;
    const text = this.cipher.tryDecrypt(Buffer.from(cookie, 'base64url'), this.context);
    return text === null ? null : readSession(text, now);
  }

  /** Returns the groups that give a scope. */
  knownGroups(groups: readonly string[]): string[] {
    return groups.filter((group) => this.groupScopes.has(group));
  }

  principalOf({ subject, groups }: UserSession): Principal {
    return { id: null, name: `oidc:${subject}`, scopes: scopesOfGroups(groups, this.groupScopes) };
  }

  /** Throws Problem not_from_console. */
  requireOwnPage(request: FastifyRequest): void {
    const origins = ownOriginsOf(request, this.environment.PUBLIC_URL);
    if (!isFromOwnConsole(request.method, request.headers, origins))
      throw new Problem(
        'not_from_console',
        'With the cookie of the console, a change needs its origin and X-Console: 1',
      );
  }

  /** Sets a cookie. It is secure unless browsers reach us on the loopback, where there is no TLS. */
  setCookie(request: FastifyRequest, reply: FastifyReply, cookie: Omit<Cookie, 'isSecure'>): void {
    const { hostname } = new URL(baseUrlOf(request, this.environment.PUBLIC_URL));
    void reply.header('set-cookie', toSetCookie({ ...cookie, isSecure: !isLoopback(hostname) }));
  }
}

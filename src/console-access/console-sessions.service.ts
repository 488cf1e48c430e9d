import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Cipher } from '../platform/crypto/cipher.js';
import { Environment } from '../platform/env/environment.js';
import { ConfigurationError } from '../platform/env/configuration-error.js';
import { ownOriginsOf } from '../platform/http/origins.rules.js';
import { Problem } from '../platform/problem/problem.js';
import { SCOPES, type Principal, type Scope } from '../access/scopes.js';
import { OtherCredentials, type SessionCredential } from '../access/other-credentials.js';
import {
  isFromOwnConsole,
  keyHashOf,
  SESSION_MS,
  type ConsoleSession,
  type UserSession,
} from './console-session.rules.js';
import { readGroupScopes, scopesOfGroups, type GroupScopes } from './group-scopes.rules.js';
import { SealedCookie } from './sealed-cookie.js';

const COOKIE = { name: 'pvo_console', path: '/', sameSite: 'Strict', maxAgeMs: SESSION_MS } as const;

/** Finds the session of the console in a cookie, and returns what its user may do. */
@Injectable()
export class ConsoleSessions {
  readonly signIn: 'key' | 'oidc';
  readonly cookie: SealedCookie<ConsoleSession>;
  private readonly groupScopes: GroupScopes<Scope>;

  constructor(
    private readonly environment: Environment,
    cipher: Cipher,
    credentials: OtherCredentials,
  ) {
    credentials.findSession = (request) => this.credentialOf(request);
    const { CONSOLE_OIDC_ISSUER, CONSOLE_OIDC_CLIENT_ID, CONSOLE_OIDC_CLIENT_SECRET } = environment;
    const { CONSOLE_OIDC_GROUPS } = environment;
    this.signIn = CONSOLE_OIDC_ISSUER === undefined ? 'key' : 'oidc';
    const client = [CONSOLE_OIDC_ISSUER, CONSOLE_OIDC_CLIENT_ID, CONSOLE_OIDC_CLIENT_SECRET];
    // Another provider, client or client secret makes all sessions unreadable, so that changing the secret ends them.
    const context = `console/session/${hash('sha256', JSON.stringify(client), 'base64url')}`;
    this.cookie = new SealedCookie(environment, cipher, { ...COOKIE, context });
    const read =
      CONSOLE_OIDC_GROUPS === undefined
        ? new Map<string, readonly Scope[]>()
        : readGroupScopes(CONSOLE_OIDC_GROUPS, SCOPES);
    if (read === null)
      throw new ConfigurationError(
        ['CONSOLE_OIDC_GROUPS must be groups with scopes, or JSON such as {"CN=Leads": ["admin"]}'],
        [],
      );
    if ('unknown' in read)
      throw new ConfigurationError([`CONSOLE_OIDC_GROUPS must have scopes out of ${SCOPES.join(', ')}`], []);
    this.groupScopes = read;
  }

  /** Returns the session of a request's cookie, or null if there is none. */
  find(request: Pick<FastifyRequest, 'headers'>, now?: number): ConsoleSession | null {
    return this.environment.CONSOLE ? this.cookie.read(request, now) : null;
  }

  /** Returns the groups that give a scope. */
  knownGroups(groups: readonly string[]): string[] {
    return groups.filter((group) => this.groupScopes.has(group));
  }

  principalOf({ subject, groups }: UserSession): Principal {
    return { id: null, name: `oidc:${subject}`, scopes: scopesOfGroups(groups, this.groupScopes) };
  }

  private credentialOf(request: FastifyRequest): SessionCredential | null {
    const session = this.find(request);
    if (session === null) return null;
    this.requireOwnPage(request);
    const caller =
      session.kind === 'user' ? { principal: this.principalOf(session) } : { key: keyHashOf(session) };
    return { caller, expiresAt: session.expiresAt };
  }

  /** Throws Problem not_from_console unless the request comes from a page of ours. */
  requireOwnPage(request: FastifyRequest): void {
    const origins = ownOriginsOf(request, this.environment.PUBLIC_URL);
    if (!isFromOwnConsole(request.method, request.headers, origins))
      throw new Problem(
        'not_from_console',
        'With the cookie of the console, a change needs its origin and X-Console: 1',
      );
  }
}

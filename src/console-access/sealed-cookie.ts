import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Cipher } from '../platform/crypto/cipher.js';
import type { Environment } from '../platform/env/environment.js';
import { baseUrlOf, isLoopback, pathPrefixOf } from '../platform/http/origins.rules.js';

interface Settings {
  readonly name: string;
  readonly path: string;
  readonly sameSite: 'Strict' | 'Lax';
  readonly maxAgeMs: number;
  /** The context to which Cipher binds the value. */
  readonly context: string;
}

/** A cookie that contains its value, encrypted. Every replica can read it; no script in the browser can. */
export class SealedCookie<Value extends { readonly expiresAt: number }> {
  constructor(
    private readonly environment: Environment,
    private readonly cipher: Cipher,
    private readonly settings: Settings,
  ) {}

  set(request: FastifyRequest, reply: FastifyReply, value: Value): void {
    this.write(request, reply, this.seal(value), this.settings.maxAgeMs);
  }

  delete(request: FastifyRequest, reply: FastifyReply): void {
    this.write(request, reply, '', 0);
  }

  seal(value: Value): string {
    return this.cipher.encrypt(JSON.stringify(value), this.settings.context).toString('base64url');
  }

  /** Returns the value in the cookie of a request; null if there is no cookie, if the value has expired, or if the cookie is not ours. */
  read({ headers }: Pick<FastifyRequest, 'headers'>, now = Date.now()): Value | null {
    const sealed = Buffer.from(cookieIn(headers.cookie, this.settings.name) ?? '', 'base64url');
    const text = this.cipher.tryDecrypt(sealed, this.settings.context);
    const value = text === null ? null : (JSON.parse(text) as Value);
    return value !== null && value.expiresAt > now ? value : null;
  }

  /** Sets the header. The cookie is `Secure` unless browsers reach us on the loopback, where there is no TLS. */
  private write(request: FastifyRequest, reply: FastifyReply, value: string, maxAgeMs: number): void {
    const { name, path, sameSite } = this.settings;
    const { PUBLIC_URL } = this.environment;
    const { hostname } = new URL(baseUrlOf(request, PUBLIC_URL));
    const secure = isLoopback(hostname) ? '' : '; Secure';
    const cookie = `${name}=${value}; Max-Age=${maxAgeMs / 1_000}; Path=${pathPrefixOf(PUBLIC_URL)}${path}; HttpOnly; SameSite=${sameSite}${secure}`;
    void reply.header('set-cookie', cookie);
  }
}

/** Returns the names of the cookies in the header `Cookie` that begin with `prefix`. */
export const cookieNames = (header: string | undefined, prefix: string): string[] =>
  pairsIn(header).flatMap(([name]) => (name?.startsWith(prefix) === true ? name : []));

/** Returns the value of a cookie in the header `Cookie`. */
export function cookieIn(header: string | undefined, name: string): string | undefined {
  return pairsIn(header).find(([given]) => given === name)?.[1];
}

const pairsIn = (header: string | undefined): string[][] =>
  header?.split(/; */).map((pair) => pair.split('=')) ?? [];

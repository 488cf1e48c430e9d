import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiBearerAuth, ApiExtension, ApiOperation } from '@nestjs/swagger';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import { ApiProblems } from '../platform/openapi/api-problems.decorator.js';
import type { Principal, Scope } from './scopes.js';
import type { PresentedKey } from './api-keys.store.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    requiredScopes?: readonly Scope[];
    /** The caller needs one of these. */
    anyScope?: readonly Scope[];
    isBulk?: boolean;
    /** A POST that changes nothing. */
    isSafe?: boolean;
    notInBulk?: Readonly<Record<string, unknown>>;
    operationId?: string;
    headers?: Readonly<Record<string, string>>;
  }
  interface FastifyRequest {
    /** RequestHooks sets it on every request to a route that is not public. */
    principal?: Principal;
    /** The key of the request, or of the console session of its cookie, whether it is valid or not. */
    presentedKey?: PresentedKey;
  }
}

/** The announced end of an operation. Each of its responses says so: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), `Link`. */
interface Deprecation {
  readonly since: Date;
  /** From then on it may be gone. */
  readonly sunset: Date;
  /** The page that says what to use instead. */
  readonly page: string;
}

export interface Documentation {
  readonly summary: string;
  readonly description: string;
  /** Set while the operation is still served but will end. */
  readonly deprecated?: Deprecation;
  /** The words of its command, or false if it has none. Default: from the path, such as `users list`. */
  readonly command?: string | false;
  /** The fields of its list that the command line shows, by the titles of their columns. Default: the first that fit. */
  readonly columns?: Readonly<Record<string, string>>;
  /** The scope for each part of the response, by its name. The caller needs one of these, and gets the parts of its own. */
  readonly scopeOf?: Readonly<Record<string, Scope>>;
  /** Scopes of which one is enough, in addition to the required ones. */
  readonly anyScope?: readonly Scope[];
  /** `POST /bulk-actions` may do it for many ids. Its path has one parameter: the id. It may be repeated, or is audited under that id. */
  readonly bulk?: true;
  /** Fields of the body, with the value that a bulk action must not give them: with it, the operation must not be repeated. */
  readonly notInBulk?: Readonly<Record<string, unknown>>;
  /** A POST that changes nothing, and so takes no `Idempotency-Key`. */
  readonly safe?: true;
  /** What it does that a person should confirm, as the end of a sentence, with parameters such as `{id}` and fields of the item. */
  readonly confirm?: string;
}

/** Declares an operation of the API, for which the caller needs all of `scopes`. The name of the method becomes the `operationId`. */
export const Operation =
  (
    scopes: Scope | readonly Scope[],
    {
      command,
      columns,
      confirm,
      scopeOf,
      bulk,
      safe,
      notInBulk,
      deprecated,
      ...documentation
    }: Documentation,
    config: Pick<FastifyContextConfig, 'takesFile' | 'passesBody'> = {},
  ): MethodDecorator =>
  (target, operationId, descriptor) => {
    const { anyScope = scopeOf && [...new Set(Object.values(scopeOf))], ...described } = documentation;
    return applyDecorators(
      RouteConfig({
        ...config,
        requiredScopes: [scopes].flat(),
        ...(anyScope && { anyScope }),
        ...(bulk && { isBulk: bulk }),
        ...(safe && { isSafe: safe }),
        ...(notInBulk && { notInBulk }),
        ...(deprecated && { headers: headersOf(deprecated) }),
        operationId: String(operationId),
      }),
      ApiOperation({ ...described, ...(deprecated && { deprecated: true }) }),
      ApiBearerAuth('apiKey'),
      ApiExtension('x-required-scope', anyScope?.join(' | ') ?? [scopes].flat().join(' ')),
      ...Object.entries({
        'x-scope-of': scopeOf,
        'x-command': command,
        'x-columns': columns,
        'x-confirm': confirm,
        'x-bulk': bulk,
        'x-safe': safe,
      })
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => ApiExtension(name, value)),
      ApiProblems('unauthenticated', 'forbidden', 'too_many_requests'),
    )(target, operationId, descriptor);
  };

const headersOf = ({ since, sunset, page }: Deprecation) => ({
  deprecation: `@${Math.floor(since.getTime() / 1_000)}`,
  sunset: sunset.toUTCString(),
  link: `<${page}>; rel="deprecation"; type="text/html"`,
});

export const CurrentKey = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { principal } = context.switchToHttp().getRequest<FastifyRequest>();
  if (principal === undefined) throw new Error('@CurrentKey() is used on a public route');
  return principal;
});

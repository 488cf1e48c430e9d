import { Catch, Logger, NotFoundException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isUsedUp } from '../database/connection/pool-use.js';
import { contextOf, runInContext } from '../http/request-context.js';
import { nothingHere, Problem } from './problem.js';
import type { ProblemPages } from './problem-pages.js';
import { sendProblem, toProblem } from './problem-response.js';

/** Writes every error response. Create it before the routes are declared. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger(ProblemFilter.name);
  private readonly routes: { readonly method: string; readonly pattern: RegExp }[] = [];

  constructor(
    server: FastifyInstance,
    private readonly pages: ProblemPages,
    private readonly publicUrl: string | undefined,
  ) {
    server.addHook('onRoute', ({ method, url }) => {
      // Skips wildcard routes, which do not describe a resource.
      if (url.includes('*')) return;
      const literal = url.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
      const pattern = new RegExp(`^${literal.replace(/:[^/]+/g, '[^/]+')}/?$`);
      for (const name of [method].flat()) this.routes.push({ method: name, pattern });
    });
  }

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    runInContext(contextOf(request), () => this.respond(error, request, http.getResponse<FastifyReply>()));
  }

  private respond(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    // After the first byte, an error can only be signalled by closing the connection.
    if (reply.sent || reply.raw.headersSent) {
      this.logger.warn(
        `${request.method} ${request.routeOptions.url} failed after its response had begun: ${nameOf(error)}`,
      );
      reply.raw.destroy();
      return;
    }
    const problem = this.unrouted(error, request) ?? toProblem(error) ?? this.report(error, request);
    if (problem.code === 'database_unavailable')
      this.logger.warn(
        `${isUsedUp(error) ? 'connections used up' : 'database unavailable'}: ${nameOf(error)}`,
      );
    sendProblem(problem, reply, this.pages, this.publicUrl);
  }

  /** Returns 405 for a known path with an unsupported method, which the router reports as 404. */
  private unrouted(error: unknown, request: FastifyRequest): Problem | undefined {
    if (!(error instanceof NotFoundException)) return undefined;
    const [path = ''] = request.url.split('?', 1);
    const methods = this.routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
    const allow = [...new Set(methods)].sort();
    // If the method is supported, the path has a trailing slash or an overlong parameter. Our patterns accept both, the router neither.
    return allow.length > 0 && !allow.includes(request.method)
      ? new Problem('method_not_allowed', `This resource supports ${allow.join(', ')}`, { allow })
      : nothingHere();
  }

  private report(error: unknown, request: FastifyRequest): Problem {
    // Logs only name, message and stack: an error object may contain a whole request, with its credentials.
    this.logger.error(
      `${request.method} ${request.routeOptions.url ?? 'no route'} ${request.id}: ${nameOf(error)}`,
      error instanceof Error ? error.stack : undefined,
    );
    return new Problem('internal_error', `This is a fault of ours, logged with the request id ${request.id}`);
  }
}

const nameOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : typeof error;

import { Catch, Logger, NotFoundException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { contextOf, runInContext } from '../http/request-context.js';
import { answerOf, headersOf } from './problem-answer.js';
import { Problem } from './problem.js';
import { toProblem } from './to-problem.js';

/** Returns the methods that the resource at a path supports. */
export interface MethodsAt {
  methodsAt(path: string): string[];
}

/** Writes every error response. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger(ProblemFilter.name);

  constructor(private readonly routes: MethodsAt) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    runInContext(contextOf(request), () => this.answer(error, request, http.getResponse<FastifyReply>()));
  }

  private answer(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    // A stream that fails after its first byte can only be cut off.
    if (reply.sent || reply.raw.headersSent) {
      this.logger.warn(
        `${request.method} ${request.routeOptions.url} failed after its answer had begun: ${nameOf(error)}`,
      );
      reply.raw.destroy();
      return;
    }
    const problem = this.unrouted(error, request) ?? toProblem(error) ?? this.report(error, request);
    if (problem.code === 'database_unavailable') this.logger.warn(`database unavailable: ${nameOf(error)}`);
    void reply.status(problem.status).headers(headersOf(problem)).send(answerOf(problem, request.id));
  }

  /** Nest throws NotFoundException if no route matches. */
  private unrouted(error: unknown, request: FastifyRequest): Problem | undefined {
    if (!(error instanceof NotFoundException)) return undefined;
    const allow = this.routes.methodsAt(request.url.replace(/\?.*$/, ''));
    // KnownRoutes accepts a path with a trailing slash; the router does not.
    return allow.length > 0 && !allow.includes(request.method)
      ? new Problem('method_not_allowed', `This resource takes ${allow.join(', ')}`, { allow })
      : new Problem('not_found', 'There is nothing at this path');
  }

  private report(error: unknown, request: FastifyRequest): Problem {
    // Only name, message and stack: an error object may contain a whole request, with its credentials.
    this.logger.error(
      `${request.method} ${request.routeOptions.url ?? 'no route'} ${request.id}: ${nameOf(error)}`,
      error instanceof Error ? error.stack : undefined,
    );
    return new Problem('internal_error', `This is our fault, and logged under the request id ${request.id}`);
  }
}

const nameOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : typeof error;

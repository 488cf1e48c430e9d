import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toProblem } from '../../platform/problem/problem-response.js';
import { OwnerPageView } from './owner-page.view.js';

/** Shows the errors of the owner's pages as pages, not as JSON. */
@Catch()
export class OwnerPageFilter implements ExceptionFilter {
  private readonly logger = new Logger(OwnerPageFilter.name);

  constructor(private readonly view: OwnerPageView) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const problem = toProblem(error);
    if (problem === undefined)
      this.logger.error(
        `${request.method} ${request.routeOptions.url} ${request.id} failed`,
        error instanceof Error ? error.stack : undefined,
      );
    const { retryAfterSeconds } = problem?.extra ?? {};
    if (retryAfterSeconds !== undefined) void reply.header('retry-after', Math.ceil(retryAfterSeconds));
    void reply.status(problem?.status ?? 500);
    const kind = problem?.code === 'too_many_requests' ? 'tooMany' : 'trouble';
    this.view.send(reply, { kind });
  }
}

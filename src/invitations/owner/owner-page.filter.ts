import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Environment } from '../../platform/env/environment.js';
import { toProblem } from '../../platform/problem/problem-response.js';
import { localeOf } from '../invitation.rules.js';
import { OwnerPageView } from './owner-page.view.js';

/** Writes the errors of the owner's pages as pages, for people. */
@Catch()
export class OwnerPageFilter implements ExceptionFilter {
  private readonly logger = new Logger(OwnerPageFilter.name);

  constructor(
    private readonly view: OwnerPageView,
    private readonly environment: Environment,
  ) {}

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
    const locale = localeOf(null, request.headers['accept-language'], this.environment.DEFAULT_LOCALE);
    sendPage(reply, this.view.render({ kind }, { locale }), this.environment.NODE_ENV === 'production');
  }
}

/** Sends a page that loads nothing from other origins, is not indexed, and passes its address on to no other page. */
export function sendPage(reply: FastifyReply, html: string, isProduction: boolean): void {
  // A form may redirect to the remote service, and browsers apply the policy to that address too.
  const targets = isProduction ? "'self' https:" : "'self' https: http://127.0.0.1:* http://localhost:*";
  void reply
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action ${targets}; base-uri 'none'; frame-ancestors 'none'`,
      'x-robots-tag': 'noindex',
      vary: 'accept-language',
    })
    .send(html);
}

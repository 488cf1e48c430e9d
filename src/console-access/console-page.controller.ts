import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Environment } from '../platform/env/environment.js';
import { Public } from '../platform/http/public.decorator.js';
import { nothingHere } from '../platform/problem/problem.js';
import { ConsoleFiles } from './console-files.service.js';

/** Serves the console's page and its files. The page contains nothing secret: all it shows comes from the API, after the sign-in. */
@ApiExcludeController()
@Controller('console')
export class ConsolePageController {
  private readonly policy: string;

  constructor(
    private readonly files: ConsoleFiles,
    private readonly environment: Environment,
  ) {
    const { CONSOLE_OIDC_ISSUER } = environment;
    const targets = CONSOLE_OIDC_ISSUER === undefined ? '' : ` ${new URL(CONSOLE_OIDC_ISSUER).origin}`;
    this.policy = `default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'${targets}; base-uri 'none'; frame-ancestors 'none'`;
  }

  /** Responds with a file of the console. Any other path is a route of the page itself, except below `assets`. */
  @Get(['', '*'])
  @Public()
  async show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    requireConsole(this.environment);
    const [path = ''] = request.url.split('?');
    const name = path.replace(/^\/console\/?/, '');
    const isAsset = name.startsWith('assets/');
    const found = this.files.find(name);
    if (found === undefined && isAsset) throw nothingHere();
    // The name of an asset contains the hash of its content.
    if (isAsset) void reply.header('cache-control', 'public, max-age=31536000, immutable');
    else void reply.header('x-robots-tag', 'noindex');
    // A worker has the policy of its own file.
    void reply.header('content-security-policy', this.policy);
    await (found ?? this.files.index).send(request, reply);
  }
}

/** Throws Problem not_found if the console is off. */
export function requireConsole({ CONSOLE }: Environment): void {
  if (!CONSOLE) throw nothingHere();
}

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Controller, Get, Header, Param, Redirect, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Environment } from '../env/environment.js';
import { Problem } from '../problem/problem.js';
import { Public } from '../http/public.decorator.js';

/** A file that is read once, at its first request, and sent to every client from the same memory. */
class SharedFile {
  private content: { readonly body: Buffer; readonly etag: string } | undefined;

  constructor(
    private readonly type: string,
    private readonly read: () => Buffer,
  ) {}

  /** Sends the file, or 304 to a client that has it. Clients revalidate it each time, since a new release changes it. */
  send(request: FastifyRequest, reply: FastifyReply): void {
    if (this.content === undefined) {
      const body = this.read();
      this.content = { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` };
    }
    const { body, etag } = this.content;
    const known = request.headers['if-none-match'] ?? '';
    void reply.headers({ etag, 'cache-control': 'no-cache' });
    // Tags are compared weakly (RFC 9110, section 13.1.2): `W/` before the quotes does not matter.
    if (known === '*' || known.includes(etag)) void reply.status(304).send();
    else void reply.header('content-type', this.type).send(body);
  }
}

const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
/** The committed file, which `npm run check` compares with the code. */
const DOCUMENT = minified('openapi.json');
const EVENTS = minified('asyncapi.json');

function minified(name: string): SharedFile {
  const file = new URL(`../../../${name}`, import.meta.url);
  const read = () => Buffer.from(JSON.stringify(JSON.parse(readFileSync(file, 'utf8'))));
  return new SharedFile('application/json; charset=utf-8', read);
}

/** swagger-ui styles its elements inline, and its icons are data URLs. All else comes from this origin, so no network is needed. */
const POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>PV Onboarding</title>
    <link rel="icon" href="/docs/favicon-32x32.png" />
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

const START = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  validatorUrl: null,
});
`;

const { resolve } = createRequire(import.meta.url);
const swaggerUi = (name: string) => () => readFileSync(resolve(`swagger-ui-dist/${name}`));

const ASSETS = new Map([
  ['swagger-ui.css', new SharedFile('text/css; charset=utf-8', swaggerUi('swagger-ui.css'))],
  ['swagger-ui-bundle.js', new SharedFile(SCRIPT_TYPE, swaggerUi('swagger-ui-bundle.js'))],
  ['favicon-32x32.png', new SharedFile('image/png', swaggerUi('favicon-32x32.png'))],
  ['start.js', new SharedFile(SCRIPT_TYPE, () => Buffer.from(START))],
]);

/** Serves Swagger UI without SwaggerModule.setup, which needs @fastify/static: Jest cannot load that package on Node 20. */
@ApiExcludeController()
@Controller()
export class DocsController {
  constructor(private readonly environment: Environment) {}

  /** Redirects a person who opens the address printed at the start. */
  @Get()
  @Public()
  @Redirect('/docs', 302)
  root(): void {
    this.requirePage();
  }

  @Get('openapi.json')
  @Public()
  document(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    DOCUMENT.send(request, reply);
  }

  @Get('asyncapi.json')
  @Public()
  events(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    EVENTS.send(request, reply);
  }

  @Get('docs')
  @Public()
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', POLICY)
  page(): string {
    this.requirePage();
    return PAGE;
  }

  @Get('docs/:asset')
  @Public()
  asset(@Param('asset') name: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.requirePage();
    const asset = ASSETS.get(name);
    if (asset === undefined) throw nothingHere();
    asset.send(request, reply);
  }

  private requirePage(): void {
    if (!this.environment.DOCS) throw nothingHere();
  }
}

const nothingHere = (): Problem => new Problem('not_found', 'There is nothing at this path');

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Controller, Get, Header, Param, Redirect, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Environment } from '../env/environment.js';
import { Problem } from '../problem/problem.js';
import { Public } from '../http/public.decorator.js';
import { sharedFile, type SharedFile } from './shared-file.js';

const JSON_TYPE = 'application/json; charset=utf-8';
/** The committed document: its content is reviewed, and a check compares it with the code. */
const DOCUMENT = sharedJson('openapi.json');
/** The events, from the committed document too. */
const EVENTS = sharedJson('asyncapi.json');

const resolve = createRequire(import.meta.url).resolve;

const ASSETS = new Map(
  [
    { name: 'swagger-ui.css', type: 'text/css; charset=utf-8' },
    { name: 'swagger-ui-bundle.js', type: 'text/javascript; charset=utf-8' },
    { name: 'favicon-32x32.png', type: 'image/png' },
  ].map(({ name, type }) => [name, sharedFile(() => readFile(resolve(`swagger-ui-dist/${name}`)), type)]),
);

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

/** Serves one of our documents, minified. */
function sharedJson(name: string): SharedFile {
  const file = new URL(`../../../${name}`, import.meta.url);
  return sharedFile(
    async () => Buffer.from(JSON.stringify(JSON.parse(await readFile(file, 'utf8')))),
    JSON_TYPE,
  );
}

/**
 * Serves /openapi.json, /asyncapi.json and, at /docs, a page of the former for people. Not SwaggerModule.setup: it needs @fastify/static,
 * which Jest cannot load on Node 20 (it requires an ES module).
 */
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
  document(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return DOCUMENT.send(request, reply);
  }

  @Get('asyncapi.json')
  @Public()
  events(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return EVENTS.send(request, reply);
  }

  @Get('docs')
  @Public()
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', POLICY)
  page(): string {
    this.requirePage();
    return PAGE;
  }

  @Get('docs/start.js')
  @Public()
  @Header('content-type', 'text/javascript; charset=utf-8')
  start(): string {
    this.requirePage();
    return START;
  }

  @Get('docs/:asset')
  @Public()
  async asset(
    @Param('asset') name: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    this.requirePage();
    const asset = ASSETS.get(name);
    if (asset === undefined) throw nothingHere();
    await asset.send(request, reply);
  }

  private requirePage(): void {
    if (!this.environment.DOCS) throw nothingHere();
  }
}

const nothingHere = (): Problem => new Problem('not_found', 'There is nothing at this path');

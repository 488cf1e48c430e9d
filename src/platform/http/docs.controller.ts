import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Controller, Get, Header, Param, Redirect, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Environment } from '../env/environment.js';
import { Problem } from '../problem/problem.js';
import { Public } from './public.decorator.js';

/** The document as it is committed: what it says is reviewed, and a check holds it to the code. */
const DOCUMENT = new URL('../../../openapi.json', import.meta.url);
/** The events, likewise. */
const EVENTS = new URL('../../../asyncapi.json', import.meta.url);

const resolve = createRequire(import.meta.url).resolve;

const ASSETS = new Map([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
]);

/** swagger-ui styles its elements inline; its icons are data URLs. Everything else comes from here, so no network is needed. */
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

/**
 * /openapi.json and /asyncapi.json, and at /docs a page of the former for people. Not SwaggerModule.setup, which needs
 * @fastify/static, which Jest cannot load on Node 20 (it requires an ES module).
 */
@ApiExcludeController()
@Controller()
export class DocsController {
  constructor(private readonly environment: Environment) {}

  /** For whoever opens the address that the start prints. In production nobody is sent anywhere. */
  @Get()
  @Public()
  @Redirect('/docs', 302)
  root(): void {
    if (this.environment.NODE_ENV === 'production')
      throw new Problem('not_found', 'There is nothing at this path');
  }

  @Get('openapi.json')
  @Public()
  @Header('content-type', 'application/json; charset=utf-8')
  document(): Promise<Buffer> {
    return readFile(DOCUMENT);
  }

  @Get('asyncapi.json')
  @Public()
  @Header('content-type', 'application/json; charset=utf-8')
  events(): Promise<Buffer> {
    return readFile(EVENTS);
  }

  @Get('docs')
  @Public()
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', POLICY)
  page(): string {
    return PAGE;
  }

  @Get('docs/start.js')
  @Public()
  @Header('content-type', 'text/javascript; charset=utf-8')
  start(): string {
    return START;
  }

  @Get('docs/:asset')
  @Public()
  async asset(
    @Param('asset') name: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    const type = ASSETS.get(name);
    if (type === undefined) throw new Problem('not_found', 'There is nothing at this path');
    void reply.headers({ 'content-type': type, 'cache-control': 'public, max-age=3600' });
    return readFile(resolve(`swagger-ui-dist/${name}`));
  }
}

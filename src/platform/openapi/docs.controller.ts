import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Controller, Get, Redirect, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Environment } from '../env/environment.js';
import { nothingHere } from '../problem/problem.js';
import { pathPrefixOf } from '../http/origins.rules.js';
import { Public } from '../http/public.decorator.js';

/** swagger-ui styles its elements inline, and its icons are data URLs. All else comes from this origin, so no network is needed. */
const POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Its links are relative, so that they work below any path. */
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>PV Onboarding</title>
    <link rel="icon" href="docs/favicon-32x32.png" />
    <link rel="stylesheet" href="docs/swagger-ui.css" />
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

const START = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  // Shows x-required-scope of each operation.
  showExtensions: true,
  validatorUrl: null,
});
`;

const JSON_TYPE = 'application/json; charset=utf-8';
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const { resolve } = createRequire(import.meta.url);
const swaggerUi = (name: string) => () => readFileSync(resolve(`swagger-ui-dist/${name}`));
/** Reads a committed file, which `npm run check` compares with the code. */
const committed = (name: string): object =>
  JSON.parse(readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8')) as object;

type Read = (prefix: string, server: FastifyInstance) => string | Buffer;

/** Returns the paths with the operations that `server` has: a feature that is left out has none. */
function pathsOf({ paths }: { readonly paths: object }, server: FastifyInstance): object {
  const has = (path: string, method: string): boolean =>
    server.hasRoute({
      method: method.toUpperCase(),
      url: path.replace(/\{(\w+)\}/g, ':$1'),
    });
  const served = Object.entries(paths).map(([path, methods]: [string, object]) => {
    const operations = Object.entries(methods).filter(([method]) => has(path, method));
    return [path, Object.fromEntries(operations)] as const;
  });
  return Object.fromEntries(served.filter(([, operations]) => Object.keys(operations).length > 0));
}

const FILES: Readonly<Record<string, readonly [type: string, read: Read]>> = {
  '/openapi.json': [
    JSON_TYPE,
    (prefix, server) => {
      const document = committed('openapi.json') as { readonly paths: object };
      const paths = pathsOf(document, server);
      return JSON.stringify({ ...document, paths, servers: [{ url: prefix || '/' }] });
    },
  ],
  '/asyncapi.json': [JSON_TYPE, () => JSON.stringify(committed('asyncapi.json'))],
  '/docs': ['text/html; charset=utf-8', () => PAGE],
  '/docs/start.js': [SCRIPT_TYPE, () => START],
  '/docs/swagger-ui.css': ['text/css; charset=utf-8', swaggerUi('swagger-ui.css')],
  '/docs/swagger-ui-bundle.js': [SCRIPT_TYPE, swaggerUi('swagger-ui-bundle.js')],
  '/docs/favicon-32x32.png': ['image/png', swaggerUi('favicon-32x32.png')],
};

/** Serves Swagger UI without SwaggerModule.setup, which needs @fastify/static: Jest cannot load that package on Node 20. */
@ApiExcludeController()
@Controller()
export class DocsController {
  /** The requested files by path, in memory, so that each file is read once. */
  private readonly bodies = new Map<string, Buffer>();

  constructor(
    private readonly environment: Environment,
    private readonly host: HttpAdapterHost,
  ) {}

  /** Redirects a person who opens the address printed at the start. */
  @Get()
  @Public()
  @Redirect('/docs', 302)
  root(): void {
    if (!this.environment.DOCS) throw nothingHere();
  }

  @Get(['openapi.json', 'asyncapi.json', 'docs', 'docs/:asset'])
  @Public()
  file(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const [path = ''] = request.url.split('?');
    const [type, read] = (Object.hasOwn(FILES, path) && FILES[path]) || [];
    const isPage = path.startsWith('/docs');
    if (read === undefined || type === undefined || (isPage && !this.environment.DOCS)) throw nothingHere();
    const body = this.bodies.get(path) ?? this.read(read);
    this.bodies.set(path, body);
    if (isPage) void reply.header('content-security-policy', POLICY);
    void reply.header('content-type', type).send(body);
  }

  private read(read: Read): Buffer {
    const server = this.host.httpAdapter.getInstance<FastifyInstance>();
    return Buffer.from(read(pathPrefixOf(this.environment.PUBLIC_URL), server));
  }
}

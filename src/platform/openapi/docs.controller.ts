import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Controller, Get, Redirect, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Environment } from '../env/environment.js';
import { nothingHere } from '../problem/problem.js';
import { pathPrefixOf } from '../http/origins.rules.js';
import { Public } from '../http/public.decorator.js';
import { readStaticFiles, StaticFile } from '../http/static-file.js';
import { referenceOf } from './reference.rules.js';

/** Everything comes from this origin, so no network is needed. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** The bundle of the reference adds styles by script, and its icons are data URLs. */
const REFERENCE_POLICY = POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'").replace(
  "img-src 'self'",
  "img-src 'self' data:",
);
const REFERENCE = 'api.html';

const NOT_BUILT = Buffer.from(
  '<!doctype html><html lang="en"><title>PV Onboarding</title><p>The guides are not built. Run <code>npm run build</code>, then restart the service.</p></html>',
);

/** Reads a committed file, which `npm run check` compares with the code. */
const committed = (name: string): { readonly paths: object } =>
  JSON.parse(readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8')) as { paths: object };

/** Returns the description with the operations that `server` has: a feature that is left out has none. */
function servedBy(server: FastifyInstance, prefix: string) {
  const document = committed('openapi.json');
  const has = (path: string, method: string): boolean =>
    server.hasRoute({ method: method.toUpperCase(), url: path.replace(/\{(\w+)\}/g, ':$1') });
  const served = Object.entries(document.paths).map(([path, methods]: [string, object]) => {
    const operations = Object.entries(methods).filter(([method]) => has(path, method));
    return [path, Object.fromEntries(operations)] as const;
  });
  const paths = Object.fromEntries(served.filter(([, operations]) => Object.keys(operations).length > 0));
  return { ...document, paths, servers: [{ url: prefix || '/' }] };
}

/** Serves the descriptions of the API, and the guides with the reference, which the build writes to `dist/docs`. */
@ApiExcludeController()
@Controller()
export class DocsController {
  private readonly folder = fileURLToPath(new URL('../../../dist/docs', import.meta.url));
  /** All files by their path, in memory. No path leads to any other file. */
  private files: ReadonlyMap<string, StaticFile> | undefined;

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

  @Get(['openapi.json', 'asyncapi.json'])
  @Public()
  async description(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.files ??= this.read();
    // The path of the route, since that of the request may be percent-encoded.
    const file = this.files.get(request.routeOptions.url!.slice(1))!;
    await file.send(request, reply.header('cache-control', 'no-cache'));
  }

  /** Responds with a page or with one of its files. The links of the first page are relative to `/docs`, without a slash at its end. */
  @Get(['docs', 'docs/*'])
  @Public()
  async page(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    if (!this.environment.DOCS) throw nothingHere();
    const [path = ''] = request.url.split('?');
    if (path === '/docs/') return void reply.redirect('/docs', 301);
    this.files ??= this.read();
    const name = path === '/docs' ? 'docs/index' : path.slice(1);
    const page = `${name}.html`;
    const file = this.files.get(page) ?? this.files.get(name);
    if (file === undefined && path !== '/docs') throw nothingHere();
    void reply.headers({
      'cache-control': 'no-cache',
      'content-security-policy': page === `docs/${REFERENCE}` ? REFERENCE_POLICY : POLICY,
    });
    await (file ?? new StaticFile('index.html', NOT_BUILT)).send(request, reply);
  }

  private read(): ReadonlyMap<string, StaticFile> {
    const description = servedBy(
      this.host.httpAdapter.getInstance<FastifyInstance>(),
      pathPrefixOf(this.environment.PUBLIC_URL),
    );
    const made: Readonly<Record<string, object>> = {
      'openapi.json': description,
      'asyncapi.json': committed('asyncapi.json'),
      'docs/reference.json': referenceOf(description),
    };
    return new Map([
      ...[...readStaticFiles(this.folder)].map(([path, file]) => [`docs/${path}`, file] as const),
      ...Object.entries(made).map(
        ([path, document]) => [path, new StaticFile(path, Buffer.from(JSON.stringify(document)))] as const,
      ),
    ]);
  }
}

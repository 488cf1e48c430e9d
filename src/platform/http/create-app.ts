import type { Server } from 'node:http';
import { NotFoundException, type DynamicModule, type LoggerService, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Environment } from '../env/environment.js';
import { CALLER_LIMITS, JsonError, parseLossless } from '../json/lossless.js';
import { Metrics } from '../metrics/metrics.js';
import { ProblemPages } from '../problem/problem-pages.js';
import { sendProblem, toProblem } from '../problem/problem-response.js';
import { Problem } from '../problem/problem.js';
import { ProblemFilter } from '../problem/problem.filter.js';
import { isTracing } from '../tracing/tracing.js';
import { readBuild } from '../build.js';
import { RESPONSE_HEADERS, refuseBeforeHttp, refuseTunnel } from './connection-refusals.js';
import { charsetOf, hasBody, passFiles } from './file-body.js';
import { normaliseForwarded } from './forwarded.rules.js';
import { HTTP_LIMITS, type HttpLimits } from './http-limits.js';
import { limitPipelining } from './pipelined-requests.js';
import { pathPrefixOf, UNPREFIXED, withoutPrefix } from './origins.rules.js';
import { contextOf, requestIdOf, runInContext } from './request-context.js';
import { traceRequests } from './trace-requests.js';
import { invalidRequest, RefuseUnreadQuery, RequestValidation } from './validation.js';

type Settings = Pick<Environment, 'METRICS_PORT' | 'PUBLIC_URL' | 'ROLE' | 'TRUSTED_PROXIES'>;

/** Creates the complete application, which does not listen yet. */
export async function createApp(
  module: DynamicModule | Type,
  settings: Settings,
  logger: LoggerService | false,
  limits: HttpLimits = HTTP_LIMITS,
): Promise<NestFastifyApplication> {
  // The pages are known once the modules are, which is before the first request.
  const pages = (): ProblemPages => app.get(ProblemPages);
  const adapter = createAdapter(settings, limits, pages);
  const app: NestFastifyApplication = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    bodyParser: false,
    logger,
    // By default, Nest ends the process if the start fails. But the caller must stop the local services first.
    abortOnError: false,
  });
  const server = adapter.getInstance();
  parseJsonBodies(server);
  passFiles(server);
  if (isTracing()) traceRequests(server);
  server.addHook('onRequest', (request, reply, done) => {
    // `ips` begins with the peer, and ends with the first address that is not a trusted proxy.
    if (settings.TRUSTED_PROXIES !== undefined)
      normaliseForwarded(request.headers, () => Math.max(1, (request.ips?.length ?? 1) - 1));
    // Some clients, such as axios, send a form's content type with a POST that has no body.
    const isWithBody = hasBody(request.headers);
    if (!isWithBody) delete request.headers['content-type'];
    reply.headers({ ...RESPONSE_HEADERS, 'x-request-id': request.id });
    const findProblem = () =>
      headerProblem(request) ??
      (isWithBody ? codingProblem(request, reply) : undefined) ??
      routeProblem(request, settings) ??
      queryProblem(request);
    runInContext(contextOf(request), () => done(findProblem()));
  });
  const metrics = app.get(Metrics);
  const { version, commit } = await readBuild();
  metrics.buildInfo.set({ version, commit: commit ?? '', role: settings.ROLE }, 1);
  measureRequests(server, metrics);
  decideConnections(server);
  addPrefixToLocations(server, pathPrefixOf(settings.PUBLIC_URL));
  app.setGlobalPrefix('api/v1', { exclude: UNPREFIXED });
  app.useGlobalFilters(new ProblemFilter(server, pages(), settings.PUBLIC_URL));
  app.useGlobalPipes(new RequestValidation());
  app.useGlobalGuards(new RefuseUnreadQuery());
  return app;
}

function createAdapter(
  { PUBLIC_URL, TRUSTED_PROXIES = [] }: Settings,
  limits: HttpLimits,
  pages: () => ProblemPages,
): FastifyAdapter {
  const prefix = pathPrefixOf(PUBLIC_URL);
  const adapter = new FastifyAdapter({
    http: {
      headersTimeout: limits.headersMs,
      connectionsCheckingInterval: limits.checkMs,
      maxHeaderSize: limits.headerBytes,
      // `headerProblem` sends a problem if Host is missing; Node would respond without a body.
      requireHostHeader: false,
    },
    requestTimeout: limits.requestMs,
    connectionTimeout: limits.idleMs,
    // Exceeds the 60 s after which common load balancers close an idle connection, so that they close it before we do.
    keepAliveTimeout: 72_000,
    bodyLimit: limits.bodyBytes,
    // Any client can send X-Forwarded-For, so it is trusted only from these proxies.
    trustProxy: TRUSTED_PROXIES.length > 0 && TRUSTED_PROXIES,
    // By default, Fastify would respond to a request that arrives during the shutdown with a 503 that is not a problem.
    return503OnClosing: false,
    genReqId: requestIdOf,
    rewriteUrl: ({ url = '/' }) => asOwnersLink(withoutPrefix(url, prefix)),
    // Lets a wrong id that is longer than our 36 characters reach ParseUuid, whose error says what is expected.
    routerOptions: { maxParamLength: 1_000 },
    // Handles a malformed URL, which the router refuses before any of our hooks runs.
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      const problem = toProblem(error) ?? new Problem('invalid_request', 'The path is not valid');
      reply.headers({ ...RESPONSE_HEADERS, 'x-request-id': request.id });
      sendProblem(problem, reply, pages(), PUBLIC_URL);
    },
    clientErrorHandler: (error, socket) => refuseBeforeHttp(error, socket, limits, pages(), PUBLIC_URL),
  });
  const server: Server = adapter.getInstance().server;
  server.maxConnections = limits.connections;
  limitPipelining(server, limits);
  // Without these listeners, Node sends a response without a body if Expect is unknown, and sends no response to a CONNECT.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request, socket) => refuseTunnel(socket, PUBLIC_URL));
  return adapter;
}

/** Matches the escapes of the dashes that programs write for a hyphen. */
const DASHES = /%E2%80%9[0-5]|%E2%88%92|%EF%B9%(?:98|A3)|%EF%BC%8D/gi;

/**
 * Writes an owner's link as it was sent: in lower case up to the token, with hyphens, and without the escapes that none has: of control
 * characters and bytes beyond ASCII, and those that are cut off. The router refuses some of them, and a mail program may have added them.
 */
function asOwnersLink(url: string): string {
  const [path = ''] = url.split('?', 1);
  if (!/^\/i(?:\/|$)/i.test(path)) return url;
  const rest = path.slice('/i'.length).replace(DASHES, '-');
  return `/i${rest.replace(/%(?![2-7][\da-f])[\da-f]{0,2}/gi, '')}${url.slice(path.length)}`;
}

/** No key is needed for a form, and one of 256 kB would take 0.1 s to read. */
const MAX_FORM_BYTES = 4_096;

/** Accepts JSON in UTF-8 only. An empty body counts as no body: clients send the content type even with POSTs that need no body. */
function parseJsonBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  const parse = async ({ headers }: FastifyRequest, body: Buffer): Promise<unknown> => {
    // RFC 8259 defines no charset parameter, but clients send it.
    const charset = charsetOf(headers);
    if (charset !== undefined && !/^utf-?8$/i.test(charset))
      throw new Problem('unsupported_media_type', 'The body must be in UTF-8');
    return body.length === 0 ? undefined : parseBody(body);
  };
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, parse);
  // Only the buttons of owners' pages are forms.
  const parseForm = async ({ routeOptions }: FastifyRequest, body: Buffer): Promise<unknown> => {
    if (!/^\/i(?:\/|$)/.test(routeOptions.url ?? ''))
      throw new Problem('unsupported_media_type', 'The body must be application/json');
    if (body.length > MAX_FORM_BYTES)
      throw new Problem('body_too_large', `A form must not be longer than ${MAX_FORM_BYTES} bytes`);
    return Object.fromEntries(new URLSearchParams(body.toString('utf8')));
  };
  server.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, parseForm);
}

function parseBody(body: Buffer): unknown {
  try {
    // Buffer.toString would replace invalid bytes by U+FFFD.
    return parseLossless(new TextDecoder('utf-8', { fatal: true }).decode(body), CALLER_LIMITS);
  } catch (error) {
    if (error instanceof JsonError) throw new Problem('invalid_json', error.message);
    throw new Problem('invalid_json', 'The body is not valid UTF-8');
  }
}

/** Matches the host of a URL, with or without a port (RFC 3986, section 3.2.2). */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** The headers that decide what a request means. Of several, Node drops all but the first, or joins their values. */
const GIVEN_ONCE = ['Host', 'Authorization', 'Content-Type', 'Idempotency-Key'];

/** Returns a problem for headers that HTTP forbids (RFC 9112, section 3.2; RFC 9110, section 10.1.1) and that Node accepts here. */
function headerProblem({ raw, headers, host, protocol }: FastifyRequest): Problem | undefined {
  const refusal = (field: string, message: string) => invalidRequest([{ field, message }]);
  const names = raw.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const count = (header: string) => names.filter((name) => name === header.toLowerCase()).length;
  const repeated = GIVEN_ONCE.find((header) => count(header) > 1);
  if (repeated !== undefined) return refusal(repeated, 'must be given once');
  const hosts = count('Host');
  if (hosts === 0 && raw.httpVersion === '1.1') return refusal('Host', 'is required in HTTP/1.1');
  const isHost = (text: string) => HOST.test(text) && URL.canParse(`http://${text}`);
  if (hosts === 1 && !isHost(headers.host ?? ''))
    return refusal('Host', 'must be a host name or an address, with or without a port');
  // Fastify reads these headers if they come from a trusted proxy.
  if (host !== (headers.host ?? '') && !isHost(host))
    return refusal('X-Forwarded-Host', 'must be a host name or an address, with or without a port');
  if (protocol !== 'http' && protocol !== 'https')
    return refusal('X-Forwarded-Proto', 'must be http or https');
  if (headers.expect !== undefined && !/^100-continue$/i.test(headers.expect.trim()))
    return refusal('Expect', 'must be 100-continue');
  return undefined;
}

/** Returns a problem for a body that is compressed: bodies are read as they are (RFC 9110, section 15.5.16; RFC 9112, section 6.1). */
function codingProblem({ headers }: FastifyRequest, reply: FastifyReply): Problem | undefined {
  const { 'content-encoding': content = 'identity', 'transfer-encoding': transfer = 'chunked' } = headers;
  if (!/^chunked$/i.test(transfer))
    return invalidRequest([{ field: 'Transfer-Encoding', message: 'must be chunked' }]);
  if (/^identity$/i.test(content)) return undefined;
  reply.header('accept-encoding', 'identity');
  return new Problem(
    'unsupported_media_type',
    'The body must not be compressed: send it without Content-Encoding',
  );
}

/** Returns a problem for a query with an escape that the parser of queries would leave as it is. An owner's link may contain any escape. */
function queryProblem({ url, routeOptions }: FastifyRequest): Problem | undefined {
  if (routeOptions.url?.startsWith('/api/') !== true) return undefined;
  const query = url.slice(`${url.split('?', 1)[0]}?`.length);
  const broken = query.split('&').find((parameter) => !isDecodable(parameter));
  if (broken === undefined) return undefined;
  const [field = ''] = broken.split('=', 1);
  return invalidRequest([{ field, message: 'must be percent-encoded UTF-8' }]);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function routeProblem(request: FastifyRequest, { ROLE, METRICS_PORT }: Settings): Error | undefined {
  // Nest would throw the same error, but only after it has read and parsed the body.
  if (request.is404) return new NotFoundException();
  const { url } = request.routeOptions;
  // MetricsServer serves the metrics on METRICS_PORT.
  if (url === '/metrics' && METRICS_PORT !== undefined) return new NotFoundException();
  // A worker serves only its status, because other requests would slow down its polling. The pattern of the route decides, because one path
  // can be written in many ways.
  return ROLE === 'worker' && /^\/(api|console)\b/.test(url ?? '') && url !== '/api/v1/status'
    ? new Problem('not_found', 'This process is a worker; requests go to one with ROLE api or all')
    : undefined;
}

/**
 * During shutdown, closes the connection after each response, since idle connections delay the shutdown. At other times, removes
 * `connection: close` from responses below status 500. Fastify sends it when it refuses a body, and a client that is still sending would
 * lose the response.
 */
function decideConnections(server: FastifyInstance): void {
  server.addHook('onSend', (_request, reply, _payload, done) => {
    if (!server.server.listening) reply.header('connection', 'close');
    else if (reply.statusCode < 500) reply.removeHeader('connection');
    done();
  });
}

/** Adds the path of PUBLIC_URL to the addresses of our own responses, which begin with a slash. */
function addPrefixToLocations(server: FastifyInstance, prefix: string): void {
  if (prefix === '') return;
  server.addHook('onSend', (_request, reply, _payload, done) => {
    const location = reply.getHeader('location');
    if (typeof location === 'string' && location.startsWith('/')) reply.header('location', prefix + location);
    done();
  });
}

function measureRequests(server: FastifyInstance, metrics: Metrics): void {
  server.addHook('onResponse', (request, reply, done) => {
    // The label is the pattern of the route: the URL would leak ids and create a new time series for every request.
    const route = request.routeOptions.url ?? 'none';
    // Excludes the time for which the request was deliberately held open.
    const tookMs = Math.max(0, reply.elapsedTime - (request.heldMs ?? 0));
    const labels = { method: request.method, route };
    const status = reply.statusCode;
    metrics.httpRequests.inc({ ...labels, status });
    metrics.httpSeconds.observe({ ...labels, status_class: `${Math.floor(status / 100)}xx` }, tookMs / 1_000);
    done();
  });
}

import { NotFoundException, type INestApplication } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { Metrics } from '../metrics/metrics.js';
import { ProblemFilter } from '../problem/problem.filter.js';
import { ANSWER_HEADERS } from './answer-headers.js';
import { parseJsonBodies } from './body-parser.js';
import { headerProblem } from './header-rules.js';
import { KnownRoutes } from './known-routes.js';
import { isPlainRead } from './plain-read.js';
import { contextOf, enterContext } from './request-context.js';
import { RefuseUnreadQuery } from './unread-query.guard.js';
import { RequestValidation } from './validation.js';

/** Paths outside the versioned API, which need no key. */
const UNPREFIXED = [
  '/',
  'health/live',
  'health/ready',
  'metrics',
  'problems/:code',
  'openapi.json',
  'asyncapi.json',
  'docs',
  'docs/:asset',
];

/**
 * Sets up everything between the socket and the controllers, for the service and for the tests. Call it before `init` or `listen`, on an
 * application created with `createHttpAdapter()` and `bodyParser: false`.
 */
export function configureHttp(app: NestFastifyApplication): void {
  const server = app.getHttpAdapter().getInstance();
  parseJsonBodies(server);
  addRequestContext(server);
  measureRequests(server, app.get(Metrics));
  decideConnections(server);
  server.addHook('onRequest', (request, _reply, done) => done(headerProblem(request.raw)));
  refuseUnrouted(server);
  const routes = new KnownRoutes(server);
  setPrefix(app);
  app.useGlobalFilters(new ProblemFilter(routes));
  app.useGlobalPipes(new RequestValidation());
  app.useGlobalGuards(new RefuseUnreadQuery());
}

/** Sets the prefix of the API. Separate, because the application from which the document is made needs nothing else. */
export function setPrefix(app: INestApplication): void {
  app.setGlobalPrefix('api/v1', { exclude: UNPREFIXED });
}

function addRequestContext(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    reply.headers({ ...ANSWER_HEADERS, 'x-request-id': request.id });
    if (isPlainRead(request)) done();
    else enterContext(contextOf(request), reply.raw, done);
  });
}

/** Responds as Nest would, but before the body of the request is read and parsed. */
function refuseUnrouted(server: FastifyInstance): void {
  server.addHook('onRequest', (request, _reply, done) => {
    if (request.is404) done(new NotFoundException());
    else done();
  });
}

/**
 * During shutdown every response closes its connection, since an idle open connection would delay the shutdown. Before that, no response
 * below 500 does: Fastify would close at once when it refuses a body, and a client still sending would lose the response.
 */
function decideConnections(server: FastifyInstance): void {
  server.addHook('onSend', (_request, reply, _payload, done) => {
    if (!server.server.listening) reply.header('connection', 'close');
    else if (reply.statusCode < 500) reply.removeHeader('connection');
    done();
  });
}

function measureRequests(server: FastifyInstance, metrics: Metrics): void {
  server.addHook('onResponse', (request, reply, done) => {
    // The pattern of the route, never the URL: an id in a label would leak it and create a new time series for every request.
    const route = request.routeOptions.url ?? 'none';
    // Deliberate waiting says nothing about our speed.
    const tookMs = Math.max(0, reply.elapsedTime - (request.heldMs ?? 0));
    metrics.httpSeconds.observe({ method: request.method, route, status: reply.statusCode }, tookMs / 1_000);
    done();
  });
}

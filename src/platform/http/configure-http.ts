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

/** Paths outside the versioned API, without a key. */
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
 * Everything between the socket and the controllers, for the service and for the tests alike. Call it before `init` or `listen`,
 * on an application made with `createHttpAdapter()` and `bodyParser: false`.
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

/** Apart, because the document is made from an application that needs nothing else. */
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

/** Nest would answer the same, but only after the body of the request had been read and parsed. */
function refuseUnrouted(server: FastifyInstance): void {
  server.addHook('onRequest', (request, _reply, done) => {
    if (request.is404) done(new NotFoundException());
    else done();
  });
}

/**
 * At the stop every response closes its connection, which would hold up the stop if it stayed open for a next request. Before, none
 * does: Fastify would close at once where it refuses a body, and the client would lose the response with what it has yet to send.
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
    // The pattern of the route, never the URL: an id in a label would leak it and make a new series of every request.
    const route = request.routeOptions.url ?? 'none';
    // What was waited for on purpose says nothing about how fast we are.
    const tookMs = Math.max(0, reply.elapsedTime - (request.heldMs ?? 0));
    metrics.httpSeconds.observe({ method: request.method, route, status: reply.statusCode }, tookMs / 1_000);
    done();
  });
}

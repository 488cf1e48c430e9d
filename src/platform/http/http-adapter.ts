import type { Server } from 'node:http';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerOf, headersOf } from '../problem/problem-answer.js';
import { Problem } from '../problem/problem.js';
import { toProblem } from '../problem/to-problem.js';
import { ANSWER_HEADERS } from './answer-headers.js';
import { refuseBeforeHttp, refuseTunnel } from './connection-refusals.js';
import { HTTP_LIMITS, type HttpLimits } from './http-limits.js';
import { limitIntake } from './intake.js';
import { requestIdOf } from './request-context.js';

/** Longer than the 60 s after which common load balancers close an idle connection, so that they close it before we do. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** Our ids have 36 characters. Longer parameters still reach the pipe, whose error says what is expected. */
const MAX_PARAMETER_LENGTH = 1_000;

/**
 * Creates the server that `configureHttp` completes; pass it with `bodyParser: false`. X-Forwarded-For is trusted only from
 * `trustedProxies`, since any client can send it.
 */
export function createHttpAdapter(
  trustedProxies: readonly string[] = [],
  limits: HttpLimits = HTTP_LIMITS,
): FastifyAdapter {
  const adapter = new FastifyAdapter({
    http: {
      headersTimeout: limits.headersMs,
      connectionsCheckingInterval: limits.checkMs,
      maxHeaderSize: limits.headerBytes,
      // Node's own refusal has no body; see `header-rules.ts`.
      requireHostHeader: false,
    },
    requestTimeout: limits.requestMs,
    connectionTimeout: limits.idleMs,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    bodyLimit: limits.bodyBytes,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    genReqId: requestIdOf,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    frameworkErrors: answerBeforeRouting,
    clientErrorHandler: (error, socket) => refuseBeforeHttp(error, socket, limits),
  });
  const server: Server = adapter.getInstance().server;
  server.maxConnections = limits.connections;
  limitIntake(server, limits);
  // Node itself would refuse an unknown Expect and a tunnel without a body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request, socket) => refuseTunnel(socket));
  return adapter;
}

/** Responds to a malformed URL, which the router refuses before any of our hooks runs. */
function answerBeforeRouting(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const problem = toProblem(error) ?? new Problem('invalid_request', 'The path is not valid');
  void reply
    .status(problem.status)
    .headers({ ...ANSWER_HEADERS, ...headersOf(problem), 'x-request-id': request.id })
    .send(answerOf(problem, request.id));
}

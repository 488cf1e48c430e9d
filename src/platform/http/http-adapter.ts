import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerOf, headersOf, PROBLEM_MEDIA_TYPE } from '../problem/problem-answer.js';
import { Problem } from '../problem/problem.js';
import { toProblem } from '../problem/to-problem.js';
import { ANSWER_HEADERS } from './answer-headers.js';
import { HTTP_LIMITS, type HttpLimits } from './http-limits.js';
import { requestIdOf } from './request-context.js';

/** Longer than the 60 s after which common load balancers drop an idle connection, so that they close it and we never do. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** Our ids have 36 characters; longer parameters reach the pipe, which answers what is expected. */
const MAX_PARAMETER_LENGTH = 1_000;

/**
 * The server that `configureHttp` then finishes; to be created with `bodyParser: false`. X-Forwarded-For is believed from
 * `trustedProxies` alone, since anybody can send it.
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
    },
    requestTimeout: limits.requestMs,
    connectionTimeout: limits.idleMs,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    bodyLimit: limits.bodyBytes,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    genReqId: requestIdOf,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    frameworkErrors: answerBeforeRouting,
    clientErrorHandler: (error, socket) => answerBeforeHttp(error, socket, limits),
  });
  adapter.getInstance().server.maxConnections = limits.connections;
  return adapter;
}

/** The router refuses a malformed URL before any hook of ours has run. */
function answerBeforeRouting(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const problem = toProblem(error) ?? new Problem('invalid_request', 'The path is not valid');
  void reply
    .status(problem.status)
    .headers({ ...ANSWER_HEADERS, ...headersOf(problem), 'x-request-id': request.id })
    .send(answerOf(problem, request.id));
}

/** Node refuses what is no HTTP, or too slow, before there is a request. */
function answerBeforeHttp(error: NodeJS.ErrnoException, socket: Socket, limits: HttpLimits): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const problem = problemOfConnection(error.code, limits);
  const requestId = requestIdOf({ headers: {} });
  const body = JSON.stringify(answerOf(problem, requestId));
  const headers = {
    ...ANSWER_HEADERS,
    'content-type': PROBLEM_MEDIA_TYPE,
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
    connection: 'close',
  };
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  // Whoever drips its request may as well never read the answer: nothing is waited for once it is written.
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroySoon());
}

function problemOfConnection(code: string | undefined, limits: HttpLimits): Problem {
  const { headersMs, requestMs, headerBytes } = limits;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const detail = `The headers must arrive within ${headersMs} ms, the whole request within ${requestMs} ms`;
    return new Problem('request_timeout', detail);
  }
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Problem('headers_too_large', `All headers together must stay below ${headerBytes} bytes`);
  return new Problem('invalid_request', 'This is not valid HTTP/1.1');
}

import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerOf, headersOf, PROBLEM_MEDIA_TYPE } from '../problem/problem-answer.js';
import { Problem } from '../problem/problem.js';
import { toProblem } from '../problem/to-problem.js';
import { BODY_LIMIT_BYTES } from './body-parser.js';
import { requestIdOf } from './request-context.js';

/** A client that takes longer to send a request than this holds a connection for nothing. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than the 60 s after which common load balancers drop an idle connection, so that they close it and we never do. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** Our ids have 36 characters; longer parameters reach the pipe, which answers what is expected. */
const MAX_PARAMETER_LENGTH = 1_000;

/** The server that `configureHttp` then finishes; to be created with `bodyParser: false`. */
export function createHttpAdapter(): FastifyAdapter {
  return new FastifyAdapter({
    bodyLimit: BODY_LIMIT_BYTES,
    genReqId: requestIdOf,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    frameworkErrors: answerBeforeRouting,
    clientErrorHandler: answerBeforeHttp,
  });
}

/** The router refuses a malformed URL before any hook of ours has run. */
function answerBeforeRouting(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const problem = toProblem(error) ?? new Problem('invalid_request', 'The path is not valid');
  void reply
    .status(problem.status)
    .headers({ ...headersOf(problem), 'x-request-id': request.id })
    .send(answerOf(problem, request.id));
}

/** Node refuses what is no HTTP, or too slow, before there is a request. */
function answerBeforeHttp(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const problem = problemOfConnection(error.code);
  const requestId = requestIdOf({ headers: {} });
  const body = JSON.stringify(answerOf(problem, requestId));
  socket.end(
    [
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
      `content-type: ${PROBLEM_MEDIA_TYPE}`,
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

function problemOfConnection(code: string | undefined): Problem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new Problem('request_timeout', `The request must arrive within ${REQUEST_TIMEOUT_MS} ms`);
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Problem('headers_too_large', 'All headers together must stay below 16 kB');
  return new Problem('invalid_request', 'This is not valid HTTP/1.1');
}

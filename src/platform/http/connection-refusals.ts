import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { answerOf, PROBLEM_MEDIA_TYPE } from '../problem/problem-answer.js';
import { Problem } from '../problem/problem.js';
import { ANSWER_HEADERS } from './answer-headers.js';
import type { HttpLimits } from './http-limits.js';
import { isDiscarding } from './intake.js';
import { requestIdOf } from './request-context.js';

/** Time for the client to read the response: closing a connection with unread bytes resets it, and the response is lost. */
const LINGER_MS = 500;

/** Answers input that Node rejects before a request exists. */
export function refuseBeforeHttp(error: NodeJS.ErrnoException, socket: Socket, limits: HttpLimits): void {
  // The missing rest of a body belongs to a request that already has its response.
  if (!socket.writable || error.code === 'ECONNRESET' || isDiscarding(socket)) {
    socket.destroy();
    return;
  }
  const problem = problemOf(error.code, limits);
  // A client that sends its request slowly may never read the response either, so close right after writing it.
  if (problem.code === 'request_timeout') socket.end(textOf(problem), () => socket.destroySoon());
  else refuse(socket, problem);
}

/** Refuses CONNECT, a request for a tunnel to another host. */
export function refuseTunnel(socket: Duplex): void {
  socket.on('error', () => {});
  refuse(socket, new Problem('invalid_request', 'This is not a proxy: CONNECT is not taken'));
}

/** Writes the response, then discards input until the client closes or LINGER_MS have passed. */
function refuse(socket: Duplex, problem: Problem): void {
  socket.removeAllListeners('data').resume();
  const timeout = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timeout)).end(textOf(problem));
}

function textOf(problem: Problem): string {
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
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

function problemOf(code: string | undefined, limits: HttpLimits): Problem {
  const { headersMs, requestMs, headerBytes } = limits;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const detail = `The headers must arrive within ${headersMs} ms, the whole request within ${requestMs} ms`;
    return new Problem('request_timeout', detail);
  }
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Problem('headers_too_large', `All headers together must stay below ${headerBytes} bytes`);
  return new Problem('invalid_request', 'This is not valid HTTP/1.1');
}

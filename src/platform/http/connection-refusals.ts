import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { bodyOf, PROBLEM_MEDIA_TYPE } from '../problem/problem-response.js';
import { Problem } from '../problem/problem.js';
import type { HttpLimits } from './http-limits.js';
import { requestIdOf } from './request-context.js';

/** The headers of every response, since any response may contain personal data, a startUrl or a key. */
export const RESPONSE_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** How long the client may take to read the response. Closing a connection with unread input would reset it and lose the response. */
const LINGER_MS = 500;

/** Responds to input that Node refuses before a request exists, and closes the connection. */
export function refuseBeforeHttp(
  error: NodeJS.ErrnoException,
  socket: Socket,
  limits: HttpLimits,
  publicUrl?: string,
): void {
  // Node reports an error again for the input that follows the refused input.
  if (!socket.writable || error.code === 'ECONNRESET') return;
  socket.end(textOf(problemOf(error.code, limits), publicUrl));
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

function problemOf(code: string | undefined, { headersMs, requestMs, headerBytes }: HttpLimits): Problem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const detail = `The headers must arrive within ${headersMs} ms, the whole request within ${requestMs} ms`;
    return new Problem('request_timeout', detail);
  }
  return code === 'HPE_HEADER_OVERFLOW'
    ? new Problem('headers_too_large', `All headers together must stay below ${headerBytes} bytes`)
    : new Problem('invalid_request', 'This is not valid HTTP/1.1');
}

function textOf(problem: Problem, publicUrl?: string): string {
  const requestId = requestIdOf({ headers: {} });
  const body = JSON.stringify(bodyOf(problem, requestId, publicUrl));
  const headers = {
    ...RESPONSE_HEADERS,
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

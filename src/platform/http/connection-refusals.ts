import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import type { ProblemPage, ProblemPages } from '../problem/problem-pages.js';
import { bodyOf, PROBLEM_MEDIA_TYPE } from '../problem/problem-response.js';
import { Problem } from '../problem/problem.js';
import { isUploading } from './file-body.js';
import type { HttpLimits } from './http-limits.js';
import { isDiscarding } from './pipelined-requests.js';
import { pathPrefixOf, withoutPrefix } from './origins.rules.js';
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

/** Responds to input that Node rejects before a request exists. */
export function refuseBeforeHttp(
  error: NodeJS.ErrnoException,
  socket: Socket,
  limits: HttpLimits,
  pages: ProblemPages,
  publicUrl?: string,
): void {
  // If the rest of a body is being discarded, its request already has a response.
  if (!socket.writable || error.code === 'ECONNRESET' || isDiscarding(socket)) {
    socket.destroy();
    return;
  }
  const { headersMs, requestMs, headerBytes } = limits;
  // An upload may take longer. Node reports a slow request only once, and leaves the connection to this handler.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isUploading(socket)) return;
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const detail = `The headers must arrive within ${headersMs} ms, the whole request within ${requestMs} ms`;
    const text = textOf(new Problem('request_timeout', detail), publicUrl);
    // A client that sends its request slowly may never read the response either, so close right after writing it.
    socket.end(text, () => socket.destroySoon());
    return;
  }
  const problem =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new Problem('headers_too_large', `All headers together must stay below ${headerBytes} bytes`)
      : new Problem('invalid_request', 'This is not valid HTTP/1.1');
  const url = withoutPrefix(pathIn(error), pathPrefixOf(publicUrl));
  refuse(socket, problem, publicUrl, pages.find(problem, url, {}));
}

/** Returns the path of a request that Node has refused, or an empty text if it is not in the same packet. */
function pathIn({ rawPacket }: NodeJS.ErrnoException & { readonly rawPacket?: Buffer }): string {
  return /^[A-Z]+ (\/\S*)/.exec(rawPacket?.toString('latin1') ?? '')?.[1] ?? '';
}

/** Refuses CONNECT, a request for a tunnel to another host. */
export function refuseTunnel(socket: Duplex, publicUrl?: string): void {
  socket.on('error', () => {});
  refuse(socket, new Problem('invalid_request', 'This is not a proxy: CONNECT is not supported'), publicUrl);
}

/** Writes the response, then discards input until the client closes or LINGER_MS have passed. */
function refuse(socket: Duplex, problem: Problem, publicUrl?: string, page?: ProblemPage): void {
  socket.removeAllListeners('data').resume();
  const timeout = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timeout)).end(textOf(problem, publicUrl, page));
}

function textOf(problem: Problem, publicUrl?: string, page?: ProblemPage): string {
  const requestId = requestIdOf({ headers: {} });
  const body = page?.body ?? JSON.stringify(bodyOf(problem, requestId, publicUrl));
  const headers = {
    ...RESPONSE_HEADERS,
    ...(page?.headers ?? { 'content-type': PROBLEM_MEDIA_TYPE }),
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

import type { FastifyInstance } from 'fastify';
import { JsonError, parseLossless } from '../json/lossless.js';
import { Problem } from '../problem/problem.js';

/**
 * Accepts JSON in UTF-8 only. Throws 415 for other media types and 400 for invalid JSON. An empty body counts as no body, since some of our
 * POSTs need none and clients send the content type anyway.
 */
export function parseJsonBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      requireUtf8(request.headers['content-type'] ?? '');
      done(null, body.length === 0 ? undefined : parseBody(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}

/**
 * Throws unless the charset is UTF-8. RFC 8259 defines no charset parameter, but clients send it; another charset would give us wrong
 * characters.
 */
function requireUtf8(contentType: string): void {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)"?/i.exec(contentType)?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new Problem('unsupported_media_type', 'The body must be in UTF-8');
  }
}

function parseBody(body: Buffer): unknown {
  try {
    // Not Buffer.toString, which replaces bytes that are not UTF-8 by U+FFFD. A byte order mark is kept, so that the parser refuses it.
    return parseLossless(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch (error) {
    if (error instanceof JsonError) throw new Problem('invalid_json', error.message);
    throw new Problem('invalid_json', 'The body is not valid UTF-8');
  }
}

import type { FastifyInstance } from 'fastify';
import { JsonError, parseLossless } from '../json/lossless.js';
import { Problem } from '../problem/problem.js';

/**
 * Bodies are JSON in UTF-8 and nothing else; everything else is 415, and what claims to be JSON and is not is 400. An empty body
 * is no body, since some of our POSTs need none and clients send the content type anyway.
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

/** RFC 8259 knows no charset parameter, but clients send it; one that is not UTF-8 would give us other characters. */
function requireUtf8(contentType: string): void {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)"?/i.exec(contentType)?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new Problem('unsupported_media_type', 'The body must be in UTF-8');
  }
}

function parseBody(body: Buffer): unknown {
  try {
    // Not Buffer.toString, which puts U+FFFD where the bytes are no UTF-8. A byte order mark is kept, so that it is refused.
    return parseLossless(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch (error) {
    if (error instanceof JsonError) throw new Problem('invalid_json', error.message);
    throw new Problem('invalid_json', 'The body is not valid UTF-8');
  }
}

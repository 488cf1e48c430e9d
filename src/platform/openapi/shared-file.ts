import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A file that is read once, at its first request, and sent from the same memory to every client. */
export interface SharedFile {
  /** Sends it, or 304 to a client that has it. */
  send(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

interface Content {
  readonly body: Buffer;
  readonly etag: string;
}

export function sharedFile(read: () => Promise<Buffer>, type: string): SharedFile {
  let content: Promise<Content> | undefined;
  return {
    async send(request, reply) {
      content ??= read().then(withTag);
      const { body, etag } = await content.catch((error: Error) => {
        // The next request tries again.
        content = undefined;
        throw error;
      });
      // It may be kept, and is asked about each time: a new release has another one.
      void reply.headers({ etag, 'cache-control': 'no-cache' });
      if (isKnown(etag, request.headers['if-none-match'])) void reply.status(304).send();
      else void reply.header('content-type', type).send(body);
    },
  };
}

const withTag = (body: Buffer): Content => ({
  body,
  etag: `"${createHash('sha256').update(body).digest('base64url')}"`,
});

/** Compares as RFC 9110, section 13.1.2 asks: a weak tag is as good. */
const isKnown = (etag: string, ifNoneMatch = ''): boolean =>
  ifNoneMatch
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === '*' || tag === etag);

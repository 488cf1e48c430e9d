import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A file that is read once, at its first request, and sent to every client from the same memory. */
export interface SharedFile {
  /** Sends the file, or 304 to a client that has it. */
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
        // Lets the next request read the file again.
        content = undefined;
        throw error;
      });
      // Clients may cache the file but revalidate it each time, since a new release changes it.
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

/** Compares entity tags weakly, as RFC 9110, section 13.1.2 requires. */
const isKnown = (etag: string, ifNoneMatch = ''): boolean =>
  ifNoneMatch
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === '*' || tag === etag);

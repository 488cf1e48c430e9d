import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../problem/problem.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the body may be a file. The route limits its size, calls `continueBody`, and reads it as a stream. */
    takesFile?: true;
  }
}

export const FILE_TYPES = ['text/csv', 'application/x-ndjson', 'multipart/form-data'];

/** Returns the charset of the Content-Type, as it was sent. */
export const charsetOf = ({ 'content-type': type = '' }: FastifyRequest['headers']): string | undefined =>
  /;\s*charset\s*=\s*"?([^";\s]*)"?/i.exec(type)?.[1];

const uploading = new WeakSet<Socket>();

/** Returns whether a file is being received on this connection. An upload may take longer than HTTP_LIMITS.requestMs, but not be idle. */
export const isUploading = (socket: Socket): boolean => uploading.has(socket);

/** Tells a client that holds back its body (`Expect: 100-continue`) to send it. */
export function continueBody({ raw, request }: FastifyReply): void {
  if (request.headers.expect !== undefined) raw.writeContinue();
}

/** Gives files as streams to the routes that take them. */
export function passFiles(server: FastifyInstance): void {
  // By default, Node would tell the client to send its body before any check of the request.
  server.server.on('checkContinue', (request, response) => server.server.emit('request', request, response));
  server.addHook('preParsing', ({ routeOptions }, reply, _body, done) => {
    if (routeOptions.config.takesFile !== true) continueBody(reply);
    done();
  });
  server.addContentTypeParser(FILE_TYPES, (request, body, done) => {
    if (request.routeOptions.config.takesFile !== true)
      return done(
        new Problem('unsupported_media_type', 'The body must be sent as content-type: application/json'),
      );
    uploading.add(request.socket);
    request.raw.once('close', () => uploading.delete(request.socket));
    done(null, body);
  });
}

import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../problem/problem.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the body may be a file. The route reads it as a stream, and limits its size itself. */
    takesFile?: true;
  }
}

export const FILE_TYPES = ['text/csv', 'application/x-ndjson', 'multipart/form-data'];

const uploading = new WeakSet<Socket>();

/** Returns whether a file is being received on this connection. It may take longer than HTTP_LIMITS.requestMs, but not be idle. */
export const isUploading = (socket: Socket): boolean => uploading.has(socket);

/** Gives files as streams to the routes that take them. */
export function passFiles(server: FastifyInstance): void {
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

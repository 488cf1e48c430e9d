import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../problem/problem.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the body may be a file. The route limits its size, calls `continueBody`, and reads it as a stream. */
    takesFile?: true;
    /** Whether the body may be of any type, and is given as a stream. The route limits its size, and finds its type by `givenType`. */
    passesBody?: true;
  }
}

export const FILE_TYPES = ['text/csv', 'application/x-ndjson', 'multipart/form-data'];

/** Returns whether a request has a body, by its headers. */
export const hasBody = ({
  'content-length': length = '0',
  'transfer-encoding': encoding,
}: FastifyRequest['headers']): boolean => length !== '0' || encoding !== undefined;

/** Returns the charset of the Content-Type, as it was sent. */
export const charsetOf = ({ 'content-type': type = '' }: FastifyRequest['headers']): string | undefined =>
  /;\s*charset\s*=\s*"?([^";\s]*)"?/i.exec(type)?.[1];

const PASSED_TYPE = 'application/x-passed-on';
const givenTypes = new WeakMap<FastifyRequest, string>();

/** Returns the Content-Type of a body that is passed on; undefined if it has none. */
export const givenType = (request: FastifyRequest): string | undefined => givenTypes.get(request);

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
  server.addHook('preParsing', (request, reply, _body, done) => {
    const { headers } = request;
    const { takesFile, passesBody } = request.routeOptions.config;
    if (takesFile !== true) continueBody(reply);
    if (passesBody === true && hasBody(headers)) {
      const { 'content-type': type } = headers;
      if (type !== undefined) givenTypes.set(request, type);
      // The parser is found by the type, and knows no route before that.
      headers['content-type'] = PASSED_TYPE;
    }
    done();
  });
  server.addContentTypeParser(PASSED_TYPE, ({ routeOptions }, body, done) => {
    if (routeOptions.config.passesBody === true) return done(null, body);
    done(new Problem('unsupported_media_type', 'The body must be sent as content-type: application/json'));
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

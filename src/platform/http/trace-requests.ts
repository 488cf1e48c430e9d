import type { FastifyInstance } from 'fastify';
import { traced } from '../tracing/tracing.js';

/** Matches the routes of probes and scrapes, which repeat every few seconds. Nobody reads their traces. */
const UNTRACED = /^\/(health|metrics)\b/;

/** Creates a span for each request, in the trace of its `traceparent`. The span ends when the response ends or the connection closes. */
export function traceRequests(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { method, headers, routeOptions } = request;
    const route = routeOptions.url;
    if (route === undefined || UNTRACED.test(route)) return done();
    const parent = typeof headers.traceparent === 'string' ? headers.traceparent : null;
    const attributes = { 'http.request.method': method, 'http.route': route };
    void traced({ name: `${method} ${route}`, kind: 'server', parent, attributes }, (span) => {
      const closed = new Promise<void>((resolve) => {
        reply.raw.once('close', () => {
          span.set({ 'http.response.status_code': reply.statusCode });
          if (reply.statusCode >= 500) span.fail(String(reply.statusCode));
          resolve();
        });
      });
      done();
      return closed;
    });
  });
}

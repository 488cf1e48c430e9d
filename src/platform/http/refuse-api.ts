import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Problem } from '../problem/problem.js';

/** A worker answers for its health and metrics alone: requests must not take from the pace of polling. */
export function refuseApi(app: NestFastifyApplication): void {
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRequest', (request, _reply, done) => {
    // The pattern of the route: there are many ways to write a path, of which the router knows all.
    if (request.routeOptions.url?.startsWith('/api/'))
      done(new Problem('not_found', 'This process is a worker; requests go to one with ROLE api or all'));
    else done();
  });
}

import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Problem } from '../problem/problem.js';

/** Refuses API requests: a worker serves only health and metrics, since requests must not slow down polling. */
export function refuseApi(app: NestFastifyApplication): void {
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRequest', (request, _reply, done) => {
    // The pattern of the route: a path can be written in many ways, and the router knows them all.
    if (request.routeOptions.url?.startsWith('/api/'))
      done(new Problem('not_found', 'This process is a worker; requests go to one with ROLE api or all'));
    else done();
  });
}

import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { IdempotencyKeys } from './idempotency-keys.store.js';
import { executeAs } from '../access/execution.js';
import { repeatableRequest, type KeyedExecution } from './repeatable-request.js';

declare module 'fastify' {
  interface FastifyRequest {
    execution?: KeyedExecution;
  }
}

/** Every operation that is a POST takes an `Idempotency-Key`, unless it changes nothing. */
const takesKey = ({ method, config }: RouteOptions): boolean =>
  method === 'POST' && config?.operationId !== undefined && !config.isSafe && !config.passesBody;

/** Executes a POST once for each `Idempotency-Key`, whatever its handler. A repetition gets the stored response. */
// Hooks of the routes, not an interceptor: Nest's observables would take a quarter of the CPU of reading a session.
@Injectable()
export class RepeatedRequests {
  constructor(
    host: HttpAdapterHost,
    private readonly keys: IdempotencyKeys,
  ) {
    const server = host.httpAdapter?.getInstance<FastifyInstance>();
    server?.addHook('onRoute', (route) => {
      if (takesKey(route)) this.addTo(route);
    });
  }

  /** The hooks of a route run after those of the server, which find the caller. */
  private addTo(route: RouteOptions): void {
    route.preHandler = (request, reply, done) => {
      const repeatable = repeatableRequest(request);
      if (repeatable === undefined) return done();
      // The handler of a file claims the key by `onceWith`, once it has read the file.
      if (route.config?.takesFile) {
        const unclaimed: KeyedExecution = {
          id: repeatable.id,
          request: repeatable,
          remember: async () => {},
          intend: async () => {},
        };
        return executeAs(unclaimed, done);
      }
      const execute = (execution: KeyedExecution): void => {
        const { response } = execution;
        if (response === undefined) return executeAs((request.execution = execution), done);
        if (response.location !== undefined) void reply.header('location', response.location);
        void reply.status(response.status).send(response.body);
      };
      this.keys.begin(repeatable).then(execute, done);
    };
    route.preSerialization = async ({ execution }, reply, body) => {
      const { statusCode: status } = reply;
      const location = reply.getHeader('location') as string | undefined;
      if (execution !== undefined && status < 300)
        await this.keys.finish(execution, { status, body, ...(location !== undefined && { location }) });
      return body;
    };
    route.onSend = async ({ execution }) => {
      if (execution?.end !== undefined) await this.keys.release(execution);
    };
  }
}

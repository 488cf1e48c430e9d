import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyContextConfig, FastifyInstance, RouteOptions } from 'fastify';
// Declares what `config` has.
import type {} from './operation.decorator.js';

/** How an operation is called, and what it declares. The path has parameters such as `:id`. */
interface OperationRoute extends FastifyContextConfig {
  readonly method: string;
  readonly path: string;
}

/** The operations that this process serves, by operationId. A feature that is left out has none. */
@Injectable()
export class Operations {
  private readonly routes = new Map<string, OperationRoute>();

  constructor(host: HttpAdapterHost) {
    const server = host.httpAdapter?.getInstance<FastifyInstance>();
    // Adds this hook before onModuleInit, because Nest declares the routes before it calls onModuleInit.
    server?.addHook('onRoute', ({ config, method, url }: RouteOptions) => {
      // Fastify adds a HEAD route to each GET.
      if (config?.operationId !== undefined && method !== 'HEAD')
        this.routes.set(config.operationId, { ...config, method: [method].flat()[0]!, path: url });
    });
  }

  get bulk(): string[] {
    return [...this.routes].filter(([, { isBulk }]) => isBulk).map(([operationId]) => operationId);
  }

  of(operationId: string): OperationRoute | undefined {
    return this.routes.get(operationId);
  }
}

import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, RouteOptions } from 'fastify';
import type { Scope } from './scopes.js';

/** How an operation is called. The path has parameters such as `:id`. */
interface OperationRoute {
  readonly method: string;
  readonly path: string;
  /** Whether `POST /bulk-actions` may do it for many. */
  readonly isBulk: boolean;
  /** Fields of the body, with the value that a bulk action must not give them. */
  readonly notInBulk: Readonly<Record<string, unknown>>;
  readonly requiredScopes: readonly Scope[];
  /** Scopes of which one is enough. Undefined: there are none. */
  readonly anyScope?: readonly Scope[];
}

/** The operations that this process serves, by operationId. A feature that is left out has none. */
@Injectable()
export class Operations {
  private readonly routes = new Map<string, OperationRoute>();

  constructor(host: HttpAdapterHost) {
    const server = host.httpAdapter?.getInstance<FastifyInstance>();
    // Adds this hook before onModuleInit, because Nest declares the routes before it calls onModuleInit.
    server?.addHook('onRoute', ({ config, method, url }: RouteOptions) => {
      const operationId = config?.operationId;
      // Fastify adds a HEAD route to each GET.
      if (operationId !== undefined && method !== 'HEAD')
        this.routes.set(operationId, {
          method: [method].flat()[0]!,
          path: url,
          isBulk: config?.isBulk === true,
          notInBulk: config?.notInBulk ?? {},
          requiredScopes: config?.requiredScopes ?? [],
          ...(config?.anyScope && { anyScope: config.anyScope }),
        });
    });
  }

  get bulk(): string[] {
    return [...this.routes].filter(([, { isBulk }]) => isBulk).map(([operationId]) => operationId);
  }

  of(operationId: string): OperationRoute | undefined {
    return this.routes.get(operationId);
  }
}

import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { OtherCredentials } from '../access/other-credentials.js';
import type { Principal } from '../access/scopes.js';

interface InternalRequest {
  readonly method: string;
  readonly path: string;
  /** Default: no body. */
  readonly body?: object;
  readonly requestId: string;
}

export interface InternalResponse {
  readonly status: number;
  readonly body: unknown;
  /** The header Retry-After, in seconds. Null if it is missing. */
  readonly retryAfterSeconds: number | null;
}

/**
 * Sends requests to this process for callers that have asked for them earlier. A request passes the same hooks as one from the network: its
 * caller needs the scopes, a revoked key is refused, the rate limit counts it, and the audit log names it.
 */
@Injectable()
export class InternalRequests {
  /** The callers of the requests in flight, by the random token that each request sends in the place of a key. */
  private readonly callers = new Map<string, Principal>();

  constructor(
    private readonly host: HttpAdapterHost,
    credentials: OtherCredentials,
  ) {
    credentials.findInternal = (token) => this.callers.get(token);
  }

  async send(
    caller: Principal,
    { method, path, body, requestId }: InternalRequest,
  ): Promise<InternalResponse> {
    const token = `internal_${randomUUID()}`;
    this.callers.set(token, caller);
    try {
      const response = await this.host.httpAdapter.getInstance<FastifyInstance>().inject({
        method,
        url: path,
        headers: {
          authorization: `Bearer ${token}`,
          'x-request-id': requestId,
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { payload: JSON.stringify(body) }),
      });
      const retryAfter = Number(response.headers['retry-after'] ?? NaN);
      return {
        status: response.statusCode,
        body: response.payload === '' ? null : (JSON.parse(response.payload) as unknown),
        retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null,
      };
    } finally {
      this.callers.delete(token);
    }
  }
}

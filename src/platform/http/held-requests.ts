import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Problem } from '../problem/problem.js';
import { HTTP_LIMITS } from './http-limits.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** For how long it was held on purpose; not counted as a slow answer. */
    heldMs?: number;
  }
}

/** A stream of events, or a `?wait=` for a change. */
type Kind = 'stream' | 'wait';

export interface HoldableRequest {
  readonly raw: { readonly socket: Socket };
  heldMs?: number;
}

const RETRY_AFTER_SECONDS = 5;

/** Requests that are held open until something happens: how many there are, and that they never take all connections. */
@Injectable()
export class HeldRequests {
  /** Requests that are answered at once always find the other half of the connections. */
  readonly ceiling: number = HTTP_LIMITS.connections / 2;
  private readonly held: Record<Kind, number> = { stream: 0, wait: 0 };

  count(kind: Kind): number {
    return this.held[kind];
  }

  /** Holds a request for as long as `work` takes; `gone` aborts when its client leaves. Throws Problem replica_busy. */
  async hold<T>(kind: Kind, request: HoldableRequest, work: (gone: AbortSignal) => Promise<T>): Promise<T> {
    if (this.held.stream + this.held.wait >= this.ceiling) {
      throw new Problem('replica_busy', `This replica holds ${this.ceiling} requests open, and no more`, {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    const { socket } = request.raw;
    const leaving = new AbortController();
    const leave = (): void => leaving.abort();
    const beganAt = performance.now();
    socket.once('close', leave);
    this.held[kind] += 1;
    try {
      return await work(leaving.signal);
    } finally {
      this.held[kind] -= 1;
      socket.off('close', leave);
      request.heldMs = performance.now() - beganAt;
    }
  }
}

import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../problem/problem.js';
import { HTTP_LIMITS } from './http-limits.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** How long the request was deliberately held open; the measured duration excludes it. */
    heldMs?: number;
  }
}

/** A stream of events, or a read that waits for a change with `?wait=`. */
type Kind = 'stream' | 'wait';

export type HoldableRequest = Pick<FastifyRequest, 'heldMs'> & { readonly raw: { readonly socket: Socket } };

/** Limits the requests held open, in total and per API key. */
@Injectable()
export class HeldRequests {
  /** The limit in total: half of the connections. The other half remains for requests with an immediate response. */
  readonly ceiling: number = HTTP_LIMITS.connections / 2;
  private readonly held = new Set<{ readonly kind: Kind; readonly holder: string }>();

  count(kind: Kind): number {
    return [...this.held].filter((each) => each.kind === kind).length;
  }

  /** The limit of one API key: a third of the ceiling, so that one key cannot use up the ceiling. */
  get share(): number {
    return Math.floor(this.ceiling / 3);
  }

  /** Keeps a request of the API key `holder` open while `work` runs; `gone` aborts if the client disconnects. Throws Problem at a limit. */
  async hold<T>(
    kind: Kind,
    request: HoldableRequest,
    holder: string,
    work: (gone: AbortSignal) => Promise<T>,
  ): Promise<T> {
    this.requirePlace(holder);
    const { socket } = request.raw;
    const leaving = new AbortController();
    const leave = (): void => leaving.abort();
    const beganAt = performance.now();
    socket.once('close', leave);
    if (socket.destroyed) leave();
    const place = { kind, holder };
    this.held.add(place);
    try {
      return await work(leaving.signal);
    } finally {
      this.held.delete(place);
      socket.off('close', leave);
      request.heldMs = performance.now() - beganAt;
    }
  }

  private requirePlace(holder: string): void {
    const retry = { retryAfterSeconds: 5 };
    if (this.held.size >= this.ceiling) {
      const detail = `This replica has ${this.ceiling} requests open, its maximum`;
      throw new Problem('replica_busy', detail, retry);
    }
    if ([...this.held].filter((each) => each.holder === holder).length >= this.share) {
      const detail = `A key may have ${this.share} streams and reads with \`wait\` open at one replica`;
      throw new Problem('too_many_requests', detail, retry);
    }
  }
}

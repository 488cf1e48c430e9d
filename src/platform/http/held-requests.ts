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

/** Requests that are held open until something happens: how many there are, that they never take all connections, nor one key all places. */
@Injectable()
export class HeldRequests {
  /** Requests that are answered at once always find the other half of the connections. */
  readonly ceiling: number = HTTP_LIMITS.connections / 2;
  private readonly held: Record<Kind, number> = { stream: 0, wait: 0 };
  private readonly heldBy = new Map<string, number>();

  count(kind: Kind): number {
    return this.held[kind];
  }

  /** The places that one holder may take: beside it, two others get as many. */
  get share(): number {
    return Math.floor(this.ceiling / 3);
  }

  /**
   * Holds a request for as long as `work` takes; `gone` aborts when its client leaves. `holder` is the key that it came with. Throws
   * Problem replica_busy when there is no place, too_many_requests when the holder has its share already.
   */
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
    this.add(kind, holder, 1);
    try {
      return await work(leaving.signal);
    } finally {
      this.add(kind, holder, -1);
      socket.off('close', leave);
      request.heldMs = performance.now() - beganAt;
    }
  }

  private requirePlace(holder: string): void {
    const retry = { retryAfterSeconds: RETRY_AFTER_SECONDS };
    if (this.held.stream + this.held.wait >= this.ceiling)
      throw new Problem(
        'replica_busy',
        `This replica holds ${this.ceiling} requests open, and no more`,
        retry,
      );
    if ((this.heldBy.get(holder) ?? 0) >= this.share) {
      const detail = `A key may hold ${this.share} streams and reads with \`wait\` open at one replica`;
      throw new Problem('too_many_requests', detail, retry);
    }
  }

  private add(kind: Kind, holder: string, change: 1 | -1): void {
    this.held[kind] += change;
    const held = (this.heldBy.get(holder) ?? 0) + change;
    if (held === 0) this.heldBy.delete(holder);
    else this.heldBy.set(holder, held);
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Authentication } from '../../access/authentication.service.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { errorText } from '../../platform/redaction/error-text.js';
import type { EventStream, StreamEnd } from './event-stream.js';

/** A revoked key loses its streams after this at the latest; we promise 5 s. */
const LOOK_FOR_REVOKED_MS = 2_000;
const STOP_WITHIN_MS = 2_000;

/** The streams of this process, and what ends them. */
@Injectable()
export class OpenStreams implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger(OpenStreams.name);
  /** The key that opened it; null for the administrator key of the environment, which cannot be revoked. */
  private readonly keys = new Map<EventStream, string | null>();
  private readonly runs = new Set<Promise<unknown>>();
  private readonly ended: Counter<'reason'>;
  private readonly stopping = new AbortController();

  constructor(
    private readonly authentication: Authentication,
    metrics: Metrics,
  ) {
    this.ended = metrics.counter({
      name: 'pv_event_streams_ended_total',
      help: 'Streams of events that have ended: left by the reader, cut because it did not read, revoked with its key, stopped with us',
      labels: ['reason'],
    });
    metrics.gauge({
      name: 'pv_event_streams',
      help: 'Streams of events that are open at this replica',
      collect: (gauge) => gauge.set(this.count),
    });
  }

  onApplicationBootstrap(): void {
    void this.endRevoked();
  }

  // An open stream would hold up the stop until it is cut.
  onModuleDestroy(): void {
    this.stopping.abort();
    for (const stream of this.keys.keys()) stream.end('stopped');
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.race([Promise.all(this.runs), sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
  }

  /** How many are open. */
  get count(): number {
    return this.keys.size;
  }

  /** Until the stream ends. */
  async run(stream: EventStream, keyId: string | null): Promise<void> {
    if (this.stopping.signal.aborted) stream.end('stopped');
    this.keys.set(stream, keyId);
    const running = stream.run();
    this.runs.add(running);
    const reason: StreamEnd = await running.finally(() => {
      this.keys.delete(stream);
      this.runs.delete(running);
    });
    this.ended.inc({ reason });
  }

  private async endRevoked(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      await sleep(LOOK_FOR_REVOKED_MS, undefined, { signal: this.stopping.signal }).catch(() => {});
      const ids = [...new Set(this.keys.values())].filter((id) => id !== null);
      if (ids.length === 0) continue;
      try {
        const revoked = new Set<string | null>(await this.authentication.findRevoked(ids));
        for (const [stream, id] of this.keys) if (revoked.has(id)) stream.end('revoked');
      } catch (error) {
        // A database that cannot say which keys are revoked cannot say what happened either.
        this.logger.debug(`revoked keys not looked for: ${errorText(error)}`);
      }
    }
  }
}

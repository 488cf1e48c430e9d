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

/** Streams of a revoked key end within this interval; we promise 5 s. */
const LOOK_FOR_REVOKED_MS = 2_000;
const STOP_WITHIN_MS = 2_000;

/** Runs the streams of this process and ends them. */
@Injectable()
export class OpenStreams implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger(OpenStreams.name);
  /** The id of the key that opened each stream; null for the administrator key of the environment, which cannot be revoked. */
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

  // An open stream would delay the shutdown until it is cut.
  onModuleDestroy(): void {
    this.stopping.abort();
    for (const stream of this.keys.keys()) stream.end('stopped');
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.race([Promise.all(this.runs), sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
  }

  /** The number of open streams. */
  get count(): number {
    return this.keys.size;
  }

  /** Runs the stream until it ends. */
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
        // While the database is unreachable, there are no new events to send either.
        this.logger.debug(`revoked keys not looked for: ${errorText(error)}`);
      }
    }
  }
}

import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { ApiKeysStore } from '../../access/api-keys.store.js';
import { Loop } from '../../platform/async/loop.js';
import { within } from '../../platform/async/within.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { errorText } from '../../platform/redaction/error-text.js';
import { STOP_WITHIN_MS } from '../../platform/shutdown/limits.js';
import type { EventStream, StreamEnd } from './event-stream.js';

/** The interval of checks for revoked keys. docs/api-keys.md promises that their streams end within 5 s. */
const REVOCATION_CHECK_MS = 2_000;

interface OpenStream {
  /** The key that opened the stream; null for ADMIN_API_KEY, which cannot be revoked. */
  readonly keyId: string | null;
  readonly running: Promise<StreamEnd>;
}

/** Runs the streams of this process. Ends them when their key is revoked or the process stops. */
@Injectable()
export class OpenStreams implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger(OpenStreams.name);
  private readonly open = new Map<EventStream, OpenStream>();
  private readonly ended = this.metrics.counter({
    name: 'pv_onboarding_event_streams_ended_total',
    help: 'Ended streams of events, by reason: left by the reader, closed because the reader was slow, key revoked, replica stopped',
    labels: ['reason'],
  });
  private readonly revocations = new Loop({
    step: () => this.endRevoked(),
    onError: (error) => {
      // While the database is unreachable, there are no new events to send either.
      this.logger.debug(`revoked keys could not be read: ${errorText(error)}`);
      return REVOCATION_CHECK_MS;
    },
  });
  private isStopping = false;

  constructor(
    private readonly keys: ApiKeysStore,
    private readonly metrics: Metrics,
  ) {
    metrics.gauge({
      name: 'pv_onboarding_event_streams',
      help: 'Streams of events that are open at this replica',
      collect: (gauge) => gauge.set(this.count),
    });
  }

  onApplicationBootstrap(): void {
    this.revocations.start();
  }

  // Ends the streams early, because an open stream would delay the shutdown.
  onModuleDestroy(): void {
    this.isStopping = true;
    void this.revocations.stop();
    for (const stream of this.open.keys()) stream.end('stopped');
  }

  async beforeApplicationShutdown(): Promise<void> {
    await within(STOP_WITHIN_MS.streams, Promise.all([...this.open.values()].map(({ running }) => running)));
  }

  get count(): number {
    return this.open.size;
  }

  async run(stream: EventStream, keyId: string | null): Promise<void> {
    if (this.isStopping) stream.end('stopped');
    const running = stream.run().finally(() => this.open.delete(stream));
    this.open.set(stream, { keyId, running });
    this.ended.inc({ reason: await running });
  }

  private async endRevoked(): Promise<number> {
    const ids = [...new Set([...this.open.values()].flatMap(({ keyId }) => keyId ?? []))];
    if (ids.length > 0) {
      const revoked = new Set<string | null>(await this.keys.findRevoked(ids));
      for (const [stream, { keyId }] of this.open) if (revoked.has(keyId)) stream.end('revoked');
    }
    return REVOCATION_CHECK_MS;
  }
}

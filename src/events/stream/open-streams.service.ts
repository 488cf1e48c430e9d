import { Injectable } from '@nestjs/common';
import { ApiKeysStore } from '../../access/api-keys.store.js';
import { BackgroundTasks } from '../../platform/async/background-tasks.js';
import { within } from '../../platform/async/within.js';
import { Metrics } from '../../observability/metrics/metrics.js';
import { STOP_WITHIN_MS } from '../../platform/shutdown/limits.js';
import type { EventStream, StreamEnd } from './event-stream.js';

/** Runs the streams of this process. Ends them when their key is revoked, their session of the console is over, or the process stops. */
@Injectable()
export class OpenStreams extends BackgroundTasks {
  // docs/api.md promises that the streams of a revoked key end within 5 s.
  protected readonly tasks = [{ everyMs: 2_000, run: () => this.endRevoked() }];
  private readonly open = new Map<EventStream, Promise<StreamEnd>>();
  private readonly ended = this.metrics.counter({
    name: 'pv_onboarding_event_streams_ended_total',
    help: 'Ended streams of events, by reason: left by the reader, closed because the reader was slow, key revoked, replica stopped',
    labels: ['reason'],
  });
  private isStopping = false;

  constructor(
    private readonly keys: ApiKeysStore,
    private readonly metrics: Metrics,
  ) {
    super('revoked keys could not be read', STOP_WITHIN_MS.streams);
    metrics.gauge({
      name: 'pv_onboarding_event_streams',
      help: 'Streams of events that are open at this replica',
      collect: (gauge) => gauge.set(this.open.size),
    });
  }

  // Ends the streams in an early hook, because an open stream would delay the shutdown.
  override onModuleDestroy(): void {
    super.onModuleDestroy();
    this.isStopping = true;
    for (const stream of this.open.keys()) stream.end('stopped');
  }

  override async beforeApplicationShutdown(): Promise<void> {
    const ended = Promise.all(this.open.values());
    await Promise.all([super.beforeApplicationShutdown(), within(STOP_WITHIN_MS.streams, ended)]);
  }

  async run(stream: EventStream): Promise<void> {
    if (this.isStopping) stream.end('stopped');
    const running = stream.run().finally(() => this.open.delete(stream));
    this.open.set(stream, running);
    this.ended.inc({ reason: await running });
  }

  private async endRevoked(): Promise<void> {
    const now = Date.now();
    for (const stream of this.open.keys())
      if ((stream.reader.consoleUntil ?? Infinity) <= now) stream.end('revoked');
    const ids = [...new Set([...this.open.keys()].flatMap(({ reader }) => reader.id ?? []))];
    if (ids.length === 0) return;
    const revoked = new Set<string | null>(await this.keys.findRevoked(ids));
    for (const stream of this.open.keys()) if (revoked.has(stream.reader.id)) stream.end('revoked');
  }
}

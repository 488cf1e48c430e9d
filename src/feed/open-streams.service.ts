import { Injectable, type BeforeApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import { ActiveCallers } from '../access/active-callers.service.js';
import { within } from '../platform/async/within.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { stopsWithin } from '../platform/shutdown/limits.js';
import type { EventStream, StreamEnd } from './event-stream.js';

const STOP_WITHIN_MS = stopsWithin(2_000);

/** Runs the streams of this process. Ends them when their key is revoked, their session of the console is over, or the process stops. */
@Injectable()
export class OpenStreams implements OnModuleDestroy, BeforeApplicationShutdown {
  private readonly open = new Map<EventStream, Promise<StreamEnd>>();
  private readonly ended = this.metrics.counter({
    name: 'pv_onboarding_event_streams_ended_total',
    help: 'Ended streams of events, by reason: left by the reader, closed because the reader was slow, key revoked, replica stopped',
    labels: ['reason'],
  });
  private isStopping = false;

  constructor(
    private readonly callers: ActiveCallers,
    private readonly metrics: Metrics,
  ) {
    metrics.gauge({
      name: 'pv_onboarding_event_streams',
      help: 'Streams of events that are open at this replica',
      collect: (gauge) => gauge.set(this.open.size),
    });
  }

  // Ends the streams in an early hook, because an open stream would delay the shutdown.
  onModuleDestroy(): void {
    this.isStopping = true;
    for (const stream of this.open.keys()) stream.end('stopped');
  }

  async beforeApplicationShutdown(): Promise<void> {
    await within(STOP_WITHIN_MS, Promise.all(this.open.values()));
  }

  async run(stream: EventStream): Promise<void> {
    if (this.isStopping) stream.end('stopped');
    const unwatch = this.callers.watch(stream.reader, () => stream.end('revoked'));
    const running = stream.run().finally(() => {
      unwatch();
      this.open.delete(stream);
    });
    this.open.set(stream, running);
    this.ended.inc({ reason: await running });
  }
}

import { Injectable, Logger } from '@nestjs/common';
import type { Gauge } from 'prom-client';
import { Metrics } from '../platform/metrics/metrics.js';
import { StatusStore, type Backlog } from './status.store.js';

/** The names of a backlog's numeric fields. */
type Figure = { [K in keyof Backlog]: Backlog[K] extends number ? K : never }[keyof Backlog];

const KINDS = [
  { what: 'overdue_sessions', count: 'overdue', oldest: 'oldestOverdueSeconds' },
  { what: 'unsequenced_events', count: 'unsequenced', oldest: 'oldestUnsequencedSeconds' },
  { what: 'handler_deliveries', count: 'undelivered', oldest: 'oldestUndeliveredSeconds' },
  { what: 'webhook_deliveries', count: 'webhooksUndelivered', oldest: 'oldestWebhookSeconds' },
  { what: 'broker_events', count: 'unpublished', oldest: 'oldestUnpublishedSeconds' },
  { what: 'pending_registrations', count: 'pending', oldest: 'oldestPendingSeconds' },
  { what: 'uncertain_registrations', count: 'uncertain', oldest: 'oldestUncertainSeconds' },
] as const satisfies readonly { what: string; count: Figure; oldest: Figure }[];

type Kind = (typeof KINDS)[number];

/** Exposes the backlog of the whole deployment as metrics: every replica shows the same. */
@Injectable()
export class BacklogMetrics {
  private readonly logger = new Logger(BacklogMetrics.name);
  private reading: Promise<Backlog | null> | undefined;

  constructor(
    metrics: Metrics,
    private readonly store: StatusStore,
  ) {
    metrics.gauge({
      name: 'pv_waiting',
      help: 'What waits to be done, by kind',
      labels: ['what'],
      collect: (gauge) => this.fill(gauge, ({ count }) => count),
    });
    metrics.gauge({
      name: 'pv_waiting_oldest_seconds',
      help: 'Age of the oldest that waits, by kind; 0 when none does',
      labels: ['what'],
      collect: (gauge) => this.fill(gauge, ({ oldest }) => oldest),
    });
  }

  private async fill(gauge: Gauge<'what'>, nameOf: (kind: Kind) => Figure): Promise<void> {
    const backlog = await this.read();
    // If the database is unreachable, shows no figures: old ones would be wrong. The other metrics must still be readable.
    gauge.reset();
    if (backlog !== null) for (const kind of KINDS) gauge.set({ what: kind.what }, backlog[nameOf(kind)]);
  }

  /** Reads once for both gauges, which are collected at the same time. */
  private read(): Promise<Backlog | null> {
    this.reading ??= this.store
      .readBacklog()
      .catch((error: Error) => {
        this.logger.debug(`backlog not read: ${error.message}`);
        return null;
      })
      .finally(() => (this.reading = undefined));
    return this.reading;
  }
}

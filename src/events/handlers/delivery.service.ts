import { Injectable, Logger } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Database } from '../../platform/database/database.js';
import { errorText } from '../../platform/redaction/error-text.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import type { RunningJob } from '../../platform/jobs/running-job.js';
import type { EventHandler } from './discovery.js';
import {
  isNothingOwed,
  isSubscribed,
  markDelivered,
  markFailed,
  readOwed,
  type Owed,
} from './handlers.sql.js';

/**
 * Fail a handler after this, because one that never settles would occupy a job slot for ever. Longer than any call that has its own
 * deadline.
 */
const HANDLER_DEADLINE_MS = 60_000;

/** Delivers to a handler the pending events of one subject. */
@Injectable()
export class DeliveryService {
  private readonly logger = new Logger(DeliveryService.name);

  private readonly deliveries: Counter<'outcome'>;

  constructor(
    private readonly database: Database,
    metrics: Metrics,
  ) {
    this.deliveries = metrics.counter({
      name: 'pv_handler_deliveries_total',
      help: 'Events given to handlers in this process, by outcome: delivered, failed and to be repeated',
      labels: ['outcome'],
    });
  }

  /**
   * Delivers in order, one at a time. A delivery is deleted after the handler resolves, so a crash in between repeats it. The first
   * failure ends the job, which is retried after a wait that grows with the consecutive failures.
   */
  async deliver(handler: EventHandler, subject: string, job: RunningJob): Promise<void> {
    let delivered = 0;
    for (;;) {
      const owed = await readOwed(this.database, handler.name, subject);
      if (owed.length === 0) {
        if (await job.finishWhen((tx) => isNothingOwed(tx, handler.name, subject))) return;
      }
      for (const next of owed) {
        await job.goOn();
        try {
          await this.hand(handler, next);
        } catch (error) {
          const reason = errorText(error);
          this.logger.warn(`${handler.name} failed on event ${next.event.id}: ${reason}`);
          this.deliveries.inc({ outcome: 'failed' });
          await markFailed(this.database, handler.name, next, reason);
          if (delivered > 0) await job.restartBackoff();
          // The job queue stores the thrown message, and an erasure does not reach it.
          throw new Error(`${handler.name} failed; its delivery says why`);
        }
        await markDelivered(this.database, handler.name, next.position);
        this.deliveries.inc({ outcome: 'delivered' });
        delivered += 1;
      }
    }
  }

  private async hand(handler: EventHandler, { event }: Owed): Promise<void> {
    if (handler.events.includes(event.name)) return withinDeadline(async () => handler.handle(event));
    if (await isSubscribed(this.database, handler.name, event.name)) {
      throw new Error(`a newer release of ${handler.name} listens to ${event.name}, this one does not`);
    }
    this.logger.warn(`${handler.name} no longer listens to ${event.name}; dropped event ${event.id}`);
  }
}

async function withinDeadline(work: () => Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`the handler did not settle within ${HANDLER_DEADLINE_MS} ms`)),
      HANDLER_DEADLINE_MS,
    );
  });
  try {
    await Promise.race([work(), deadline]);
  } finally {
    clearTimeout(timer);
  }
}

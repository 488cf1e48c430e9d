import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { Environment } from '../../../platform/env/environment.js';
import { errorText } from '../../../platform/redaction/error-text.js';
import { EventSignal } from '../../event-signal.service.js';
import { sequenceEvents } from '../../sequence.sql.js';
import { WebhookDrains } from './drains.service.js';
import { fanOut, readBehind, resumeWebhooks } from './fan-out.sql.js';

/** Endpoints processed concurrently. Each uses a connection for some milliseconds. */
const AT_ONCE = 4;
/** Wait when every endpoint is locked by another transaction, and after a failure. Such locks last some milliseconds. */
const HELD_MS = 20;
const UPKEEP_MS = 3_600_000;
/** Fallback only: EventSignal fires every second. */
const LONGEST_WAIT_MS = 5_000;

/** Inserts webhook deliveries for new events. Runs in every process with ROLE worker or all. */
@Injectable()
export class WebhookFanOut implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger(WebhookFanOut.name);
  private readonly stopping = new AbortController();
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly environment: Environment,
    private readonly database: Database,
    private readonly events: EventSignal,
    private readonly drains: WebhookDrains,
  ) {}

  onApplicationBootstrap(): void {
    if (this.environment.ROLE === 'api') return;
    this.running = Promise.all([this.follow(), this.keepUp()]);
  }

  onModuleDestroy(): void {
    this.stopping.abort();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.running;
  }

  private async follow(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const seen = this.events.count;
      try {
        await this.catchUp();
      } catch (error) {
        if (!signal.aborted) this.logger.warn(`webhooks do not learn of events: ${errorText(error)}`);
        // Do not retry at once, even if new events are announced.
        await sleep(HELD_MS, undefined, { signal }).catch(() => {});
      }
      await this.events.wait(signal, LONGEST_WAIT_MS, seen);
    }
  }

  /** Costs one round trip when nothing is new. An endpoint that fails is left for the next call. */
  private async catchUp(): Promise<void> {
    const failed = new Set<string>();
    while (!this.stopping.signal.aborted) {
      const { unsequenced, behind } = await readBehind(this.database);
      const due = behind.filter((id) => !failed.has(id));
      if (!unsequenced && due.length === 0) return;
      if (unsequenced) await sequenceEvents(this.database);
      else await this.moveOn(due, failed);
    }
  }

  private async moveOn(endpointIds: readonly string[], failed: Set<string>): Promise<void> {
    const left = [...endpointIds];
    let held = 0;
    const work = async (): Promise<void> => {
      for (let id = left.shift(); id !== undefined; id = left.shift()) {
        try {
          const result = await fanOut(this.database, id);
          if (result.held) held += 1;
          if (result.written > 0) this.drains.wake(id);
        } catch (error) {
          failed.add(id);
          this.logger.warn(`webhook endpoint ${id} does not learn of events: ${errorText(error)}`);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (held === 0) await sleep(HELD_MS);
  }

  private async keepUp(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        const resumed = await resumeWebhooks(this.database);
        if (resumed > 0) this.logger.warn(`${resumed} webhook endpoints had no job; added`);
      } catch (error) {
        this.logger.warn(`webhooks could not be resumed: ${errorText(error)}`);
      }
      await sleep(UPKEEP_MS, undefined, { signal: this.stopping.signal }).catch(() => {});
    }
  }
}

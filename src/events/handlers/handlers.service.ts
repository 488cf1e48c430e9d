import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { Database } from '../../platform/database/database.js';
import { errorText } from '../../platform/redaction/error-text.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { DeliveryService } from './delivery.service.js';
import { discoverHandlers } from './discovery.js';
import { resumeDeliveries, retireHandlers, subscribeHandlers, touchHandlers } from './handlers.sql.js';

const UPKEEP_MS = 3_600_000;

/** Discovers the @OnEvent methods at start and maintains their subscriptions. */
@Injectable()
export class EventHandlers implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(EventHandlers.name);
  private readonly stopping = new AbortController();
  private names: readonly string[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly jobs: Jobs,
    private readonly delivery: DeliveryService,
    private readonly database: Database,
  ) {}

  // Subscribe before any module's bootstrap hook, so that events appended there are delivered to this process's handlers.
  async onModuleInit(): Promise<void> {
    const handlers = discoverHandlers(this.discovery, this.scanner);
    this.names = handlers.map(({ name }) => name);
    for (const handler of handlers) {
      this.jobs.register(`event:${handler.name}`, async (payload, job) => {
        await this.delivery.deliver(handler, (payload as { subject: string }).subject, job);
      });
    }
    await subscribeHandlers(this.database, handlers);
  }

  onApplicationBootstrap(): void {
    void this.keepUp();
  }

  onModuleDestroy(): void {
    this.stopping.abort();
  }

  private async keepUp(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        await touchHandlers(this.database, this.names);
        for (const { name, owed } of await retireHandlers(this.database)) {
          this.logger.warn(
            `no release has had the handler ${name} for 7 days; it is no longer owed ${owed} events`,
          );
        }
        const resumed = await resumeDeliveries(this.database);
        if (resumed > 0) this.logger.warn(`${resumed} deliveries had no job; added`);
      } catch (error) {
        this.logger.warn(`subscriptions could not be kept: ${errorText(error)}`);
      }
      await sleep(UPKEEP_MS, undefined, { signal: this.stopping.signal }).catch(() => {});
    }
  }
}

import { Injectable } from '@nestjs/common';
import type { NewEvent } from '../../events/catalogue.rules.js';
import { appendEvents } from '../../events/outbox.js';
import { Database } from '../../platform/database/database.js';
import type { AgeGroup, Price, PriceFacts, Shortage } from '../rules/price.rules.js';
import * as sql from './price.sql.js';

/** A control step that only this worker does. */
export interface PriceStep extends Price, Shortage, Pick<PriceFacts, 'wantedPerSecond'> {
  readonly now: Date;
  /** The reads of all workers since the last step, and the time since then. */
  readonly reads: number;
  readonly seconds: number;
  /** Whether `wantedPerSecond` may be measured again. */
  readonly isMeasureDue: boolean;
}

export interface StepResult extends Price, Shortage {
  readonly allowedPerSecond: number | null;
  readonly events: readonly NewEvent[];
}

/** Stores the price of a read, which all replicas share. */
@Injectable()
export class PriceStore {
  constructor(private readonly database: Database) {}

  /** Adds to the reads of all workers. */
  async addReads(reads: number): Promise<void> {
    await this.database.prisma.readPrice.updateMany({ data: { reads: { increment: reads } } });
  }

  /** Begins a step, unless another worker has begun one within the period. */
  async beginStep(periodMs: number): Promise<PriceStep | undefined> {
    return (await this.database.query<PriceStep>(sql.BEGIN_STEP, [periodMs]))[0];
  }

  /** Counts the watched sessions by phase, age and brand. The sessions of all brands not in `brands` have the brand null. */
  async countByAge(brands: readonly string[]): Promise<(AgeGroup & { readonly brand: string | null })[]> {
    return brands.length === 0
      ? this.database.query(sql.COUNT_BY_AGE)
      : this.database.query(sql.COUNT_BY_BRAND, [brands]);
  }

  /** Lets no worker scan the sessions for `pauseMs`. Writes the reads per second that they want, if not null. */
  async writeMeasure(pauseMs: number, wantedPerSecond: number | null): Promise<void> {
    await this.database.query(sql.WRITE_MEASURE, [pauseMs, wantedPerSecond]);
  }

  /** Returns whether more than `reads` sessions wait, and whether the remote service accepts reads, even if only up to a limit. */
  async readBacklog(reads: number) {
    type Backlog = Pick<PriceFacts, 'isBehind' | 'isHealthy'>;
    return (await this.database.query<Backlog>(sql.READ_BACKLOG, [reads]))[0]!;
  }

  /** Writes the result with its events. Does nothing if another worker has begun a later step. */
  async finishStep({ now }: PriceStep, result: StepResult): Promise<void> {
    await this.database.transaction(async (tx) => {
      const written = await tx.query(sql.FINISH_STEP, [
        now,
        result.stretch,
        result.capacityPerSecond,
        result.ceilingPerSecond,
        result.wasBehind,
        result.readPerSecond,
        result.allowedPerSecond,
        result.shortSince,
        result.announcedAt,
      ]);
      if (written.length > 0) await appendEvents(tx, result.events);
    });
  }
}

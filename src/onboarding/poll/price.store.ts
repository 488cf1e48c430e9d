import { Injectable } from '@nestjs/common';
import type { NewEvent } from '../../events/catalogue.rules.js';
import { appendEvents } from '../../events/outbox.js';
import { Database } from '../../platform/database/database.js';
import type { AgeGroup, Price, PriceFacts, Shortage } from '../rules/price.rules.js';
import * as sql from './price.sql.js';

/** A control step that only this worker does. */
export interface PriceStep extends Price, Shortage, Pick<PriceFacts, 'wantedPerSecond'> {
  readonly stepAt: string;
  readonly now: Date;
  /** The reads of all workers since the last step, and the time since then. */
  readonly reads: number;
  readonly seconds: number;
  /** Whether `wantedPerSecond` may be measured again. */
  readonly isMeasureDue: boolean;
}

/** What a step came to. */
export interface StepResult extends Price, Shortage {
  readonly allowedPerSecond: number | null;
  readonly events: readonly NewEvent[];
}

/** Stores the price of a read, which all replicas share. */
@Injectable()
export class PriceStore {
  constructor(private readonly database: Database) {}

  /** Adds to the reads of all workers. Returns whether a step is due. */
  async addReads(reads: number, periodMs: number): Promise<boolean> {
    const [row] = await this.database.query<{ isDue: boolean }>(sql.ADD_READS, [reads, periodMs]);
    return row!.isDue;
  }

  /** Begins a step, unless another worker has begun one within the period. */
  async beginStep(periodMs: number): Promise<PriceStep | undefined> {
    return (await this.database.query<PriceStep>(sql.BEGIN_STEP, [periodMs]))[0];
  }

  /** Counts the watched sessions. Without `byBrand`, they all count as sessions without a brand. */
  async countByAge(byBrand: boolean): Promise<(AgeGroup & { readonly brand: string })[]> {
    return this.database.query(byBrand ? sql.COUNT_BY_BRAND : sql.COUNT_BY_AGE);
  }

  /** Writes what all sessions want, or null if that was not measured, and that no worker scans them for `pauseMs`. */
  async writeMeasure(pauseMs: number, wantedPerSecond: number | null): Promise<void> {
    await this.database.query(sql.WRITE_MEASURE, [pauseMs, wantedPerSecond]);
  }

  /** Returns whether more than `reads` sessions wait, and whether the remote service is healthy. */
  async readBacklog(reads: number): Promise<Pick<PriceFacts, 'isBehind' | 'isHealthy'>> {
    const [row] = await this.database.query<Pick<PriceFacts, 'isBehind' | 'isHealthy'>>(sql.READ_BACKLOG, [
      reads,
    ]);
    return row!;
  }

  /** Writes the result with its events. Does nothing if another worker has begun a later step. */
  async finishStep({ stepAt }: PriceStep, result: StepResult): Promise<void> {
    await this.database.transaction(async (tx) => {
      const written = await tx.query(sql.FINISH_STEP, [
        stepAt,
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

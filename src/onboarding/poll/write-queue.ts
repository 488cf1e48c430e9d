import { Injectable, Logger } from '@nestjs/common';
import { sqlState } from '../../platform/database/database.js';
import { isDatabaseUnavailable } from '../../platform/problem/database-unavailable.js';
import { PollsStore } from './polls.store.js';
import type { ClaimedPoll, FailedRead, PollBatch } from './polls.store.js';
import { planSetAside } from '../rules/read-plan.rules.js';
import type { ReadStep } from '../rules/read-plan.rules.js';
import { SessionsStore } from '../store/sessions.store.js';
import type { BatchReading } from '../store/sessions.store.js';
import { bytesToWrite, countOfSet } from '../rules/write-sets.rules.js';

/** Readings per transaction. A larger one would hold its row locks for longer than the saved statements are worth. */
const READINGS_PER_WRITE = 500;
const RETRY_MS = 250;
/**
 * How long results gather before they are written. Each write takes eleven round trips whatever its size. Without a wait, a write at
 * 10,000 reads a second held only five changes. Beside the seconds between two reads of a session, the wait is negligible.
 */
const GATHER_MS = 50;

/** Bytes of responses that may wait to be written. Beyond it no more are read, or large responses would fill the memory. */
const MOST_WAITING_BYTES = 64 * 1024 * 1024;

interface LiveBatch {
  /** Reads whose result is not yet written. */
  remaining: number;
}

/**
 * Writes what the poller read. Results gather for a moment, and during a write in progress, and are then written together, so the sets
 * grow with the load. An unchanged response is only counted. A batch is closed only after its last result is written: it is the fence of
 * all of them.
 */
@Injectable()
export class PollWrites {
  private readonly logger = new Logger(PollWrites.name);
  private readonly live = new Map<string, LiveBatch>();
  private readings: BatchReading[] = [];
  private waitingBytes = 0;
  private failures: FailedRead[] = [];
  private finished: string[] = [];
  private writing = false;

  constructor(
    private readonly polls: PollsStore,
    private readonly sessions: SessionsStore,
  ) {}

  begin(batch: PollBatch): void {
    this.live.set(batch.id, { remaining: batch.polls.length });
  }

  /** Returns false once the lease is lost: another worker may claim the sessions, and their reads are dropped. */
  isLive(batchId: string): boolean {
    return this.live.has(batchId);
  }

  /** Returns whether reads outpace the database. If so, start no further read. */
  get isBehind(): boolean {
    return this.waitingBytes > MOST_WAITING_BYTES;
  }

  finish(batchId: string, { sessionId }: ClaimedPoll, step: ReadStep): void {
    switch (step.kind) {
      case 'nothing':
        this.count(batchId);
        break;
      case 'apply':
        this.readings.push({ sessionId, batchId, reading: step.reading, answer: step.answer });
        this.waitingBytes += bytesToWrite(step);
        break;
      case 'postpone':
        this.failures.push({ sessionId, batchId, ...step });
        break;
    }
    if (!this.writing && this.hasWork()) void this.write();
  }

  /** Renews the lease of every unfinished batch and drops those that are lost. */
  async extendLeases(): Promise<void> {
    const ids = [...this.live.keys()];
    if (ids.length === 0) return;
    const kept = await this.polls.extendLeases(ids);
    for (const id of ids.filter((candidate) => !kept.has(candidate))) {
      if (this.live.delete(id))
        this.logger.warn(`the lease of batch ${id} was lost; its results are dropped`);
    }
  }

  /** Resolves when everything is written, or at `deadline`, an instant of `performance.now()`. */
  async drained(deadline: number): Promise<void> {
    while ((this.writing || this.hasWork()) && performance.now() < deadline) await pause(10);
  }

  private hasWork(): boolean {
    return this.readings.length > 0 || this.failures.length > 0 || this.finished.length > 0;
  }

  private count(batchId: string): void {
    const batch = this.live.get(batchId);
    if (batch === undefined || --batch.remaining > 0) return;
    this.finished.push(batchId);
  }

  private async write(): Promise<void> {
    this.writing = true;
    while (this.hasWork()) {
      await pause(GATHER_MS);
      try {
        await this.writeReadings();
        await this.writeFailures();
        await this.closeFinished();
      } catch (error) {
        // The results are retained and written once the database is back, unless their lease is lost by then.
        this.logger.warn(
          `poll results wait for the database: ${error instanceof Error ? error.message : String(error)}`,
        );
        await pause(RETRY_MS);
        this.readings = this.readings.filter(({ batchId }) => this.live.has(batchId));
        this.waitingBytes = sumOf(this.readings);
        this.failures = this.failures.filter(({ batchId }) => this.live.has(batchId));
      }
    }
    this.writing = false;
  }

  private async writeReadings(): Promise<void> {
    // Results that arrive meanwhile gather for the next write.
    for (let left = this.readings.length; left > 0;) {
      const next = this.readings.slice(0, Math.min(left, READINGS_PER_WRITE));
      const readings = next.slice(0, countOfSet(next, bytesToWrite));
      await this.apply(readings);
      this.readings.splice(0, readings.length);
      this.waitingBytes -= sumOf(readings);
      left -= readings.length;
      for (const { batchId } of readings) this.count(batchId);
    }
  }

  private async apply(readings: readonly BatchReading[]): Promise<void> {
    try {
      const { stale } = await this.sessions.applyReadings(readings);
      if (stale > 0) this.logger.warn(`dropped ${stale} answers that arrived after their lease`);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      if (readings.length > 1) {
        for (const reading of readings) await this.apply([reading]);
        return;
      }
      this.setAside(readings[0]!, error);
    }
  }

  /** Postpones a session that cannot be saved, so that it does not block the others. */
  private setAside({ sessionId, batchId }: BatchReading, error: unknown): void {
    const state = sqlState(error) ?? 'unknown';
    this.logger.error(
      `the answer about session ${sessionId} cannot be saved (SQLSTATE ${state}); it is set aside`,
    );
    const live = this.live.get(batchId);
    if (live !== undefined) live.remaining++;
    this.failures.push({ sessionId, batchId, ...planSetAside(state) });
  }

  private async writeFailures(): Promise<void> {
    if (this.failures.length === 0) return;
    const failures = this.failures.slice();
    await this.polls.recordFailures(failures);
    this.failures.splice(0, failures.length);
    for (const { batchId } of failures) this.count(batchId);
  }

  private async closeFinished(): Promise<void> {
    if (this.finished.length === 0) return;
    const finished = this.finished.slice();
    await this.polls.closeBatches(finished);
    this.finished.splice(0, finished.length);
    for (const id of finished) this.live.delete(id);
  }
}

const sumOf = (readings: readonly BatchReading[]): number =>
  readings.reduce((sum, reading) => sum + bytesToWrite(reading), 0);

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

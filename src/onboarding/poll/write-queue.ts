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

/** In one transaction; more would hold its row locks for longer than the statements save. */
const READINGS_PER_WRITE = 500;
const RETRY_MS = 250;
/**
 * How long results gather before they are written. Each write is eleven round trips however much it holds, and at 10,000 reads
 * a second without a wait it held five changes. Beside the seconds between two reads of a session nobody notices the wait.
 */
const GATHER_MS = 50;

/** Of answers that wait to be written; beyond it no more are read, or a remote service that sends much would fill the memory. */
const MOST_WAITING_BYTES = 64 * 1024 * 1024;

interface LiveBatch {
  /** Reads whose result is not written yet. */
  remaining: number;
}

/**
 * Writes what the poller read. Results gather for a moment, and while a write is under way, and go together into the next, so the
 * sets grow with the load. An answer that changed nothing is only counted. A batch is closed after its last result is written, and not before:
 * it is the fence of them all.
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

  /** False once the lease was lost: the sessions belong to somebody else, and their reads are dropped. */
  isLive(batchId: string): boolean {
    return this.live.has(batchId);
  }

  /** More was read than the database takes at the moment: read nothing else until it has. */
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

  /** Extends the lease of every batch that is not finished; forgets those that were lost. */
  async extendLeases(): Promise<void> {
    const ids = [...this.live.keys()];
    if (ids.length === 0) return;
    const kept = await this.polls.extendLeases(ids);
    for (const id of ids.filter((candidate) => !kept.has(candidate))) {
      if (this.live.delete(id))
        this.logger.warn(`the lease of batch ${id} was lost; its results are dropped`);
    }
  }

  /** Resolves when everything is written, or at the deadline, an instant of `performance.now()`. */
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
        // What was read is kept and written when the database is back, unless the lease is lost by then.
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
    // Those that come meanwhile gather for the next write.
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

  /** One session that cannot be saved must not keep the others from it. */
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

import { counted } from '../../platform/counted.rules.js';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { sqlState } from '../../platform/database/sql-state.js';
import { Environment } from '../../platform/env/environment.js';
import { isDatabaseUnavailable } from '../../platform/problem/database-unavailable.js';
import { errorText } from '../../platform/redaction/error-text.js';
import { traced } from '../../platform/tracing/tracing.js';
import { PollsStore, type ClaimedPoll, type FailedRead } from './polls.store.js';
import { planUnsavable, type ReadStep } from '../rules/read-plan.rules.js';
import { SessionsStore, type BatchReading } from '../store/sessions.store.js';
import { bytesToWrite } from '../rules/write-sets.rules.js';

/** The most readings per transaction. A larger transaction saves statements, but its longer row locks cost more. */
const READINGS_PER_WRITE = 500;
const RETRY_MS = 250;
/** How long to collect results before a write of 11 round trips. Without it, a write at 10,000 reads/s had only five changes. */
const GATHER_MS = 50;
/** Maximum bytes of responses that wait to be written. Above this limit, no session is read, so that responses cannot fill the memory. */
const MOST_WAITING_BYTES = 64 * 1024 * 1024;
/** The calls of the longest usual read: one for each of two paths, and one repetition with a new token. */
const CALLS_PER_READ = 3;

/** How long to repeat the write of a response that fails alone. The fault may be that of the database, and pass. */
const UNSAVED_FOR_MS = 5_000;

interface LiveBatch {
  unread: number;
  /** No read starts after this time of performance.now(), since the lease might expire while the read is in flight. */
  readUntil: number;
}

interface UnsavedReading {
  readonly reading: BatchReading;
  /** When to postpone the session instead, by `performance.now()`. */
  readonly until: number;
}

/** Writes the poller's results in sets that grow with the load. Closes a batch after its last result. */
@Injectable()
export class PollWrites {
  private readonly logger = new Logger(PollWrites.name);
  private readonly live = new Map<string, LiveBatch>();
  private readonly readings: BatchReading[] = [];
  private waitingBytes = 0;
  /** The readings whose write has failed. */
  private readonly unsaved: UnsavedReading[] = [];
  private retryUnsavedAt = -Infinity;
  private readonly failures: FailedRead[] = [];
  isWriting = false;
  private readonly readWithinMs: number;

  constructor(
    private readonly polls: PollsStore,
    private readonly sessions: SessionsStore,
    { POLL_LEASE_MS, SCS_TIMEOUT_MS }: Environment,
  ) {
    // A read that starts within this time after a renewal ends before the lease expires. The minimum is a third of the lease, since a short
    // lease would otherwise stop all reads.
    this.readWithinMs = Math.max(POLL_LEASE_MS - CALLS_PER_READ * SCS_TIMEOUT_MS, POLL_LEASE_MS / 3);
  }

  /** Adds a claimed batch. `claimedAt` is the time of performance.now() before the claim. */
  begin(batchId: string, reads: number, claimedAt: number): void {
    this.live.set(batchId, { unread: reads, readUntil: claimedAt + this.readWithinMs });
  }

  /** Returns whether a read may start. Returns false if the lease of the batch is lost, or might expire during the read. */
  mayRead(batchId: string): boolean {
    return performance.now() < (this.live.get(batchId)?.readUntil ?? -Infinity);
  }

  /** Returns whether reads outpace the database. If so, the caller must not start a read. */
  get isBehind(): boolean {
    return this.waitingBytes > MOST_WAITING_BYTES;
  }

  finish({ sessionId, batchId, traceparent }: ClaimedPoll, step: ReadStep): void {
    const batch = this.live.get(batchId);
    // The lease is lost: another worker may have claimed the session.
    if (batch === undefined) return;
    batch.unread--;
    if (step.kind === 'postpone') this.failures.push({ sessionId, batchId, ...step });
    if (step.kind === 'apply') {
      this.readings.push({ sessionId, batchId, reading: step.reading, traceparent });
      this.waitingBytes += bytesToWrite(step.reading);
    }
    if (!this.isWriting && this.hasWork) void this.write();
  }

  /** Renews the lease of every unfinished batch, and drops the batches whose lease is lost. */
  async renewLeases(): Promise<void> {
    const ids = [...this.live.keys()];
    if (ids.length === 0) return;
    const readUntil = performance.now() + this.readWithinMs;
    const renewed = await this.polls.renewLeases(ids);
    for (const id of ids) {
      const batch = this.live.get(id);
      if (renewed.has(id)) {
        if (batch) batch.readUntil = readUntil;
      } else if (this.live.delete(id))
        this.logger.warn({ message: 'the lease of a batch was lost; its results are dropped', batchId: id });
    }
  }

  private get hasWork(): boolean {
    const waiting = this.readings.length + this.unsaved.length + this.failures.length;
    return waiting > 0 || this.finished.length > 0;
  }

  /** Returns the batches whose reads have all ended and whose results have all been written. */
  private get finished(): string[] {
    const unsaved = this.unsaved.map(({ reading }) => reading);
    const waiting = new Set([...this.readings, ...unsaved, ...this.failures].map(({ batchId }) => batchId));
    return [...this.live].filter(([id, { unread }]) => unread === 0 && !waiting.has(id)).map(([id]) => id);
  }

  private async write(): Promise<void> {
    this.isWriting = true;
    let isWaiting = false;
    while (this.hasWork) {
      await pause(GATHER_MS);
      try {
        await this.writeReadings();
        await this.retryUnsaved();
        await this.writeFailures();
        const { finished } = this;
        if (finished.length > 0) await this.polls.closeBatches(finished);
        for (const id of finished) this.live.delete(id);
        isWaiting = false;
      } catch (error) {
        // The results are written once the database is reachable again, except for those whose lease is lost by then.
        if (!isWaiting) this.logger.warn(`poll results wait for the database: ${errorText(error)}`);
        isWaiting = true;
        await pause(RETRY_MS);
      }
    }
    this.isWriting = false;
  }

  private async writeReadings(): Promise<void> {
    // Results that arrive during this write wait for the next one.
    for (let left = this.readings.length; left > 0; left -= READINGS_PER_WRITE) {
      const readings = this.readings.slice(0, Math.min(left, READINGS_PER_WRITE));
      await this.apply(readings);
      this.readings.splice(0, readings.length);
      for (const { reading } of readings) this.waitingBytes -= bytesToWrite(reading);
    }
  }

  /** Applies readings together. After an error, applies each alone, so that a response that cannot be saved delays no other. */
  private async apply(readings: readonly BatchReading[]): Promise<void> {
    try {
      await this.applyOnce(readings);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      const until = performance.now() + UNSAVED_FOR_MS;
      for (const reading of readings) await this.applyAlone({ reading, until });
    }
  }

  private async applyAlone(unsaved: UnsavedReading): Promise<void> {
    try {
      await this.applyOnce([unsaved.reading]);
    } catch (error) {
      const isOver = !isDatabaseUnavailable(error) && performance.now() > unsaved.until;
      if (isOver) this.postponeUnsavable(unsaved.reading, sqlState(error) ?? 'unknown');
      else this.unsaved.push(unsaved);
    }
  }

  private async retryUnsaved(): Promise<void> {
    if (performance.now() < this.retryUnsavedAt) return;
    for (const unsaved of this.unsaved.splice(0)) await this.applyAlone(unsaved);
    this.retryUnsavedAt = performance.now() + RETRY_MS;
  }

  private async applyOnce(readings: readonly BatchReading[]): Promise<void> {
    const links = readings.flatMap(({ traceparent }) => traceparent ?? []);
    const { stale } = await traced({ name: 'apply readings', parent: null, links }, () =>
      this.sessions.applyReadings(readings),
    );
    if (stale > 0)
      this.logger.warn(
        `dropped ${counted(stale, 'response', 'responses')} that arrived after the lease expired`,
      );
  }

  /** Postpones a session whose response cannot be saved, so that it does not block other sessions. */
  private postponeUnsavable({ sessionId, batchId }: BatchReading, state: string): void {
    const message = `a response cannot be saved (SQLSTATE ${state}); the session is postponed`;
    this.logger.error({ message, sessionId });
    this.failures.push({ sessionId, batchId, ...planUnsavable(state) });
  }

  private async writeFailures(): Promise<void> {
    if (this.failures.length === 0) return;
    const failures = this.failures.slice();
    await this.polls.recordFailures(failures);
    this.failures.splice(0, failures.length);
  }
}

import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { listenTo } from '../platform/database/listen.js';
import { Environment } from '../platform/env/environment.js';
import { Hints } from './wake-up.js';
import { EVENTS_CHANNEL } from './sequence.sql.js';

/**
 * How long an event can stay unread if its NOTIFY is lost, or if its writer dies before sequencing it. Each tick costs every reader
 * one index probe.
 */
const TICK_MS = 1_000;

/**
 * Signals that there may be new events: at every NOTIFY, received over one connection per process, and once a second in any case, so
 * that no reader depends on notifications. Readers find out what is new by reading.
 */
@Injectable()
export class EventSignal implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly hints = new Hints();
  private readonly databaseUrl: string;
  private timer: NodeJS.Timeout | undefined;
  private stopListening: (() => Promise<void>) | undefined;

  constructor(environment: Environment) {
    this.databaseUrl = environment.DATABASE_URL;
  }

  // Not in the constructor: if the application fails to start, nothing would stop the timer and the connection.
  onApplicationBootstrap(): void {
    this.stopListening = listenTo(this.databaseUrl, EVENTS_CHANNEL, () => this.hints.give());
    this.timer = setInterval(() => this.hints.give(), TICK_MS);
  }

  // Runs in the last hook, because readers that stop in an earlier one may still be waiting for a signal.
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    this.hints.give();
    await this.stopListening?.();
  }

  /** The number of signals so far. Read it before reading events and pass it to `wait`, so that no signal in between is missed. */
  get count(): number {
    return this.hints.count;
  }

  /** Calls `listener` synchronously at every signal, however frequent; it must not throw. Returns a function that removes it. */
  onEvents(listener: () => void): () => void {
    return this.hints.onHint(listener);
  }

  /** Resolves after a signal later than `since`, after `atMostMs`, or when `signal` aborts. Never rejects. */
  wait(signal: AbortSignal, atMostMs: number, since?: number): Promise<void> {
    return this.hints.wait(signal, atMostMs, since);
  }
}

import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { listenTo } from '../platform/database/listen.js';
import { Environment } from '../platform/env/environment.js';
import { Hints } from './wake-up.js';
import { EVENTS_CHANNEL } from './sequence.sql.js';

/**
 * How long an event may lie unread when its NOTIFY was lost, or when whoever wrote it died before it could tell. Looking costs each
 * reader one probe of an index.
 */
const TICK_MS = 1_000;

/**
 * Says that it is worth looking for events: at every NOTIFY, over one connection per process that all readers share, and once a
 * second whatever happens, so that no reader depends on a notification. What is new, each reader finds out by reading.
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

  // Not before every module has been made: of a start that is refused, nothing is ended.
  onApplicationBootstrap(): void {
    this.stopListening = listenTo(this.databaseUrl, EVENTS_CHANNEL, () => this.hints.give());
    this.timer = setInterval(() => this.hints.give(), TICK_MS);
  }

  // Readers that stop in an earlier hook may still be waiting for it.
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    this.hints.give();
    await this.stopListening?.();
  }

  /** How often it was said so far. Take it before reading, and give it to `wait`: nothing said meanwhile is overheard. */
  get count(): number {
    return this.hints.count;
  }

  /** `listener` is called at once each time, must not throw, and has to cope with many in a row. Answers how to end it. */
  onEvents(listener: () => void): () => void {
    return this.hints.onHint(listener);
  }

  /** Resolves once it was said after `since`, or after `atMostMs`, or when `signal` aborts. Never rejects. */
  wait(signal: AbortSignal, atMostMs: number, since?: number): Promise<void> {
    return this.hints.wait(signal, atMostMs, since);
  }
}

import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { listenTo } from '../platform/database/listen.js';
import { Environment } from '../platform/env/environment.js';
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
export class EventSignal implements OnModuleInit, OnApplicationShutdown {
  private readonly listeners = new Set<() => void>();
  private readonly databaseUrl: string;
  private said = 0;
  private timer: NodeJS.Timeout | undefined;
  private stopListening: (() => Promise<void>) | undefined;

  constructor(environment: Environment) {
    this.databaseUrl = environment.DATABASE_URL;
  }

  onModuleInit(): void {
    this.stopListening = listenTo(this.databaseUrl, EVENTS_CHANNEL, () => this.say());
    this.timer = setInterval(() => this.say(), TICK_MS);
  }

  // Readers that stop in an earlier hook may still be waiting for it.
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    this.say();
    await this.stopListening?.();
  }

  /** How often it has been said so far. Take it before reading, and give it to `wait`: nothing said meanwhile is overheard. */
  get count(): number {
    return this.said;
  }

  /** `listener` is called at once for every hint, must not throw, and has to cope with many in a row. Answers how to end it. */
  onEvents(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Resolves once something was said after `since`, or after `atMostMs`, or when `signal` aborts. Never rejects. */
  async wait(signal: AbortSignal, atMostMs: number, since: number = this.said): Promise<void> {
    if (signal.aborted || this.said !== since) return;
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        clearTimeout(timeout);
        forget();
        signal.removeEventListener('abort', settle);
        resolve();
      };
      const timeout = setTimeout(settle, atMostMs);
      const forget = this.onEvents(settle);
      signal.addEventListener('abort', settle);
    });
  }

  private say(): void {
    this.said += 1;
    for (const listener of [...this.listeners]) listener();
  }
}

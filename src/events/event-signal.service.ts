import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { WakeUp } from '../platform/async/wake-up.js';
import { listenTo } from '../platform/database/listen.js';
import { Environment } from '../platform/env/environment.js';
import { EVENTS_CHANNEL } from './sequence.sql.js';

/** The longest delay of an event whose NOTIFY was lost. Each tick costs every reader one index probe. */
const TICK_MS = 1_000;

/** Signals possible new events: at every NOTIFY, and every second in case a notification was lost. */
@Injectable()
export class EventSignal extends WakeUp implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private stopListening: (() => Promise<void>) | undefined;

  constructor(private readonly environment: Environment) {
    super();
  }

  // Starts here, not in the constructor: if the application failed to start, nothing would stop the timer and the connection.
  onApplicationBootstrap(): void {
    this.stopListening = listenTo(this.environment.DATABASE_DIRECT_URL, EVENTS_CHANNEL, () => this.signal());
    this.timer = setInterval(() => this.signal(), TICK_MS);
  }

  // Stops in the last hook, because readers that stop in an earlier hook may still be waiting for a signal.
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    this.signal();
    await this.stopListening?.();
  }
}

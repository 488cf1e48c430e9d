import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { WakeUp } from '../platform/async/wake-up.js';
import { Listener } from '../platform/database/connection/listen.js';
import { EVENTS_CHANNEL } from './sequence.sql.js';

/** The longest delay of an event whose NOTIFY was lost. Each tick costs every reader one index probe. */
const TICK_MS = 1_000;

/** Signals possible new events: at every NOTIFY, and once a second in case a NOTIFY was lost. */
@Injectable()
export class EventSignal extends WakeUp implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  /** Signals every NOTIFY alone, for those that learn of a lost NOTIFY in another way. */
  readonly notified = new WakeUp();

  constructor(private readonly listener: Listener) {
    super();
  }

  // Starts the timer in this hook, because nothing would stop it if the application failed to start after the constructor.
  onApplicationBootstrap(): void {
    this.listener.on(EVENTS_CHANNEL, () => {
      this.notified.signal();
      this.signal();
    });
    this.timer = setInterval(() => this.signal(), TICK_MS);
  }

  // Stops in the last hook, because readers that stop in an earlier hook may still wait for a signal.
  onApplicationShutdown(): void {
    clearInterval(this.timer);
    this.signal();
  }
}

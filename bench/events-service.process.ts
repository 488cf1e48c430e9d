import { Injectable, Module, type DynamicModule } from '@nestjs/common';
import { AppModule } from '../src/app.module.js';
import { Publishers } from '../src/broker/broker.service.js';
import type { DomainEvent } from '../src/events/catalogue.rules.js';
import { OnEvent } from '../src/handlers/on-event.js';
import { createApp } from '../src/platform/http/create-app.js';
import { readEnvironment } from '../src/platform/env/read-environment.js';
import { ServiceLogger } from '../src/platform/logging/service-logger.js';
import { Arrivals } from './harness/load/arrivals.js';
import { takePart } from './harness/contender.js';
import { serviceVariables } from './harness/service-variables.js';

/** `handled` returns the events that the handler received. `hold` blocks the fake broker. `relayed` unblocks it and waits until it has all events. */
export interface EventsServiceOptions {
  readonly what: 'handled' | 'relayed' | 'hold';
}

const handled = new Arrivals();
let relayed = 0;
let onRelayed: () => void = () => {};
let isHeld = false;
let letGo: () => void = () => {};

async function untilRelayed(count: number): Promise<void> {
  isHeld = false;
  letGo();
  while (relayed < count) await new Promise<void>((resolve) => (onRelayed = resolve));
}

@Injectable()
class Sink {
  @OnEvent('session.online')
  note(event: DomainEvent<'session.online'>): void {
    handled.add(event.subject);
  }
}

@Module({})
class BenchModule {
  static with(app: DynamicModule): DynamicModule {
    return { module: BenchModule, imports: [app], providers: [Sink] };
  }
}

// Replaces the broker by a fake that confirms events at once unless it is blocked, so that the benchmark measures only the relay.
Publishers.prototype.open = async () => ({
  lastId: undefined,
  warnings: [],
  publish: async (events) => {
    if (isHeld) await new Promise<void>((resolve) => (letGo = resolve));
    relayed += events.length;
    onRelayed();
    return events.length;
  },
  close: async () => {},
});

// Runs the real service with the event handler and the fake broker above.
takePart(async (request) => {
  const environment = readEnvironment(serviceVariables(request));
  const logger = new ServiceLogger(environment);
  const app = await createApp(BenchModule.with(AppModule.forRoot(environment)), environment, logger);
  await app.listen(0, '127.0.0.1');
  return {
    url: await app.getUrl(),
    run: async (count: number, { what }: EventsServiceOptions) => {
      switch (what) {
        case 'handled':
          return handled.take(count);
        case 'relayed':
          return untilRelayed(count);
        case 'hold':
          isHeld = true;
          return undefined;
      }
    },
  };
});

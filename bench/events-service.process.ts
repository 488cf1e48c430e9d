import { Injectable, Module, type DynamicModule } from '@nestjs/common';
import { AppModule } from '../src/app.module.js';
import { createApp } from '../src/create-app.js';
import { Publishers } from '../src/events/broker/publishers.js';
import type { DomainEvent } from '../src/events/domain-event.js';
import { OnEvent } from '../src/events/handlers/on-event.js';
import { readEnvironment } from '../src/platform/env/read-environment.js';
import { ServiceLogger } from '../src/platform/logging/service-logger.js';
import { Arrivals } from './harness/arrivals.js';
import { takePart } from './harness/contender.js';
import { serviceVariables } from './harness/service-variables.js';

/**
 * `handled` answers so many arrivals; `relayed` waits until so many events have been relayed since the process started; `hold`: from
 * now on the sink of the relay takes nothing, until `relayed` is asked for.
 */
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

// In the place of a message broker, a sink that has stored whatever it is given at once: what is measured is the way there.
Publishers.prototype.open = async () => ({
  held: { kind: 'unknown' },
  publish: async (events) => {
    if (isHeld) await new Promise<void>((resolve) => (letGo = resolve));
    relayed += events.length;
    onRelayed();
    return { acked: events.length, failure: null };
  },
  close: async () => {},
});

// The real service, with one handler of its own and that sink.
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

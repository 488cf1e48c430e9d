import 'reflect-metadata';
import { MetadataScanner, type DiscoveryService } from '@nestjs/core';
import { isEventName, type DomainEvent, type EventName } from '../events/catalogue.rules.js';

const METADATA = 'pv-onboarding:on-event';

interface Subscription {
  readonly events: readonly EventName[];
  /** The name under which deliveries are stored. Default: `Class.method`. If you rename the class or the method, set the old name. */
  readonly handler?: string;
}

/** Calls the method with each of these events at least once, in order within a subject. If it throws, the subject waits for a retry. */
export function OnEvent<const N extends EventName>(
  events: N | readonly N[],
  options: Omit<Subscription, 'events'> = {},
) {
  const subscription = { events: typeof events === 'string' ? [events] : events, ...options };
  return <M extends (event: DomainEvent<N>) => Promise<void> | void>(
    _target: object,
    _method: string,
    descriptor: TypedPropertyDescriptor<M>,
  ): void => Reflect.defineMetadata(METADATA, subscription, descriptor.value!);
}

export interface EventHandler {
  readonly name: string;
  readonly events: readonly EventName[];
  readonly handle: (event: DomainEvent) => Promise<void> | void;
}

/** Returns the @OnEvent methods of all providers and controllers. Throws if a declaration is invalid. */
export function discoverHandlers(discovery: DiscoveryService): EventHandler[] {
  const scanner = new MetadataScanner();
  const handlers = new Map<string, EventHandler>();
  for (const wrapper of [...discovery.getProviders(), ...discovery.getControllers()]) {
    const { metatype } = wrapper;
    const instance = wrapper.instance as Record<string, EventHandler['handle']>;
    if (typeof metatype !== 'function') continue;
    const prototype = metatype.prototype as Record<string, object>;
    for (const method of scanner.getAllMethodNames(prototype)) {
      const subscription = Reflect.getMetadata(METADATA, prototype[method]!) as Subscription | undefined;
      if (subscription === undefined) continue;
      const { events, handler: name = `${metatype.name}.${method}` } = subscription;
      if (!wrapper.isDependencyTreeStatic())
        throw new Error(`@OnEvent ${name}: the provider must not be request-scoped`);
      if (handlers.has(name))
        throw new Error(`@OnEvent ${name}: two handlers have this name; give one of them a "handler"`);
      if (events.length === 0) throw new Error(`@OnEvent ${name}: it names no event`);
      const unknown = events.find((event: string) => !isEventName(event));
      if (unknown !== undefined) throw new Error(`@OnEvent ${name}: there is no event ${unknown}`);
      handlers.set(name, { name, events, handle: (event) => instance[method]!(event) });
    }
  }
  return [...handlers.values()];
}

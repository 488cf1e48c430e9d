import type { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { EVENT_NAMES, isEventName, type EventName } from '../catalogue.rules.js';
import type { DomainEvent } from '../domain-event.js';
import { findSubscription } from './on-event.js';

export interface EventHandler {
  readonly name: string;
  readonly events: readonly EventName[];
  handle(event: DomainEvent): Promise<void> | void;
}

/** graphile-worker limits task names to 128 characters, and ours start with `event:`. */
const LONGEST_NAME = 100;

/** Returns every method of a provider that has @OnEvent. Throws if one could never be called as declared. */
export function discoverHandlers(discovery: DiscoveryService, scanner: MetadataScanner): EventHandler[] {
  const handlers = new Map<string, EventHandler>();
  const seen = new Set<object>();
  for (const wrapper of [...discovery.getProviders(), ...discovery.getControllers()]) {
    const { metatype } = wrapper;
    if (typeof metatype !== 'function' || metatype.prototype === undefined) continue;
    for (const method of scanner.getAllMethodNames(metatype.prototype as object)) {
      const subscription = findSubscription((metatype.prototype as Record<string, object>)[method] as object);
      if (subscription === null) continue;
      const name = subscription.handler ?? `${metatype.name}.${method}`;
      if (!wrapper.isDependencyTreeStatic())
        throw new Error(`@OnEvent ${name}: the provider must not be request-scoped`);
      const instance = wrapper.instance as Record<string, EventHandler['handle']> | null;
      // A provider registered under several tokens is one instance.
      if (instance === null || (seen.has(instance) && handlers.has(name))) continue;
      if (handlers.has(name))
        throw new Error(`@OnEvent ${name}: two handlers have this name; give one of them a "handler"`);
      if (name.length > LONGEST_NAME)
        throw new Error(`@OnEvent ${name}: a name has at most ${LONGEST_NAME} characters`);
      handlers.set(name, {
        name,
        events: checkEvents(name, subscription.events),
        handle: (event) => instance[method]?.(event),
      });
    }
    if (typeof wrapper.instance === 'object' && wrapper.instance !== null)
      seen.add(wrapper.instance as object);
  }
  return [...handlers.values()];
}

function checkEvents(handler: string, events: readonly string[]): EventName[] {
  const unknown = events.filter((event) => !isEventName(event));
  if (events.length > 0 && unknown.length === 0) return events.filter(isEventName);
  const problem = events.length === 0 ? 'it listens to no event' : `there is no event ${unknown.join(', ')}`;
  throw new Error(`@OnEvent ${handler}: ${problem}; there are ${EVENT_NAMES.join(', ')}`);
}

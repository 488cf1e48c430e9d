import 'reflect-metadata';
import type { EventName } from '../catalogue.rules.js';
import type { DomainEvent } from '../domain-event.js';

const METADATA = 'pv-onboarding:on-event';

export interface Subscription {
  readonly events: readonly string[];
  /** Default: the names of the class and the method, `Class.method`. */
  readonly handler?: string;
}

type Handler<N extends EventName> = (event: DomainEvent<N>) => Promise<void> | void;

/**
 * Calls the method of a provider with every event of these names: at least once, in order within a subject, in any process with ROLE
 * worker or all. When the method throws, the event is retried after a growing wait. Later events of that subject wait for it; other
 * subjects and handlers do not.
 *
 * Pending deliveries are stored under the name of the handler, `Class.method`. To rename class or method later, set a fixed name as
 * `handler`.
 */
export function OnEvent<const N extends EventName>(
  events: N | readonly N[],
  options: { readonly handler?: string } = {},
) {
  const subscription: Subscription = { events: typeof events === 'string' ? [events] : events, ...options };
  return <M extends Handler<N>>(
    _target: object,
    _method: string,
    descriptor: TypedPropertyDescriptor<M>,
  ): void => {
    if (descriptor.value !== undefined) Reflect.defineMetadata(METADATA, subscription, descriptor.value);
  };
}

export const findSubscription = (method: object): Subscription | null =>
  (Reflect.getMetadata(METADATA, method) as Subscription | undefined) ?? null;

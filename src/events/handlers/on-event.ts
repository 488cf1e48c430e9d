import 'reflect-metadata';
import type { EventName } from '../catalogue.rules.js';
import type { DomainEvent } from '../domain-event.js';

const METADATA = 'pv-onboarding:on-event';

export interface Subscription {
  readonly events: readonly string[];
  /** Absent: the name of the class and of the method. */
  readonly handler?: string;
}

type Handler<N extends EventName> = (event: DomainEvent<N>) => Promise<void> | void;

/**
 * Calls the method of a provider with every event of that name, at least once, in order within a subject, in any of the
 * processes with ROLE worker or all. When it throws, the same event comes again after a growing wait; later events of that
 * subject wait for it, other subjects and handlers do not.
 *
 * What a handler is owed is kept under its name, `Class.method`. Give it one of its own as `handler` to be free to rename.
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

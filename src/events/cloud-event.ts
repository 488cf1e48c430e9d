import { isEventName, type EventName, type EventPayloads } from './catalogue.js';
import type { DomainEvent } from './domain-event.js';

/**
 * CloudEvents ask that `source` and `id` together name one event for ever, so the source must not change when the service moves
 * to another address.
 */
export const SOURCE = '/pv-onboarding';

/** CloudEvents 1.0 in the structured JSON form, with the extension `sequence`. */
export interface CloudEvent<N extends EventName = EventName> {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: typeof SOURCE;
  readonly type: string;
  readonly subject: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly time: string;
  readonly datacontenttype: 'application/json';
  /** A decimal number without leading zeros; a string, as CloudEvents has it. Compare by length, then by text. */
  readonly sequence: string;
  readonly data: EventPayloads[N];
}

export function toCloudEvent(event: DomainEvent & { readonly sequence: string }): CloudEvent {
  return {
    specversion: '1.0',
    id: event.id,
    source: SOURCE,
    type: toEventType(event.name),
    subject: event.subject,
    time: event.time.toISOString(),
    datacontenttype: 'application/json',
    sequence: event.sequence,
    data: event.data,
  };
}

export const toEventType = (name: EventName): string => `pv.${name}.v1`;

/** Reads `session.online` as well as `pv.session.online.v1`. */
export function findEventName(text: string): EventName | null {
  const name = /^pv\.(.+)\.v1$/.exec(text)?.[1] ?? text;
  return isEventName(name) ? name : null;
}

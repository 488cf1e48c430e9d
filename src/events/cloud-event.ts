import { isEventName, type EventName, type EventPayloads } from './catalogue.rules.js';
import type { DomainEvent } from './domain-event.js';

/** CloudEvents 1.0 in the structured JSON form, with the extension `sequence`. */
export interface CloudEvent<N extends EventName = EventName> {
  readonly specversion: '1.0';
  readonly id: string;
  /** The setting EVENT_SOURCE. */
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly time: string;
  readonly datacontenttype: 'application/json';
  /** 19 digits, so that it sorts as text in feed order (CloudEvents extension `sequence`). */
  readonly sequence: string;
  readonly data: EventPayloads[N];
}

export function toCloudEvent(event: DomainEvent & { readonly sequence: string }, source: string): CloudEvent {
  return {
    specversion: '1.0',
    id: event.id,
    source,
    type: toEventType(event.name),
    subject: event.subject,
    time: event.time.toISOString(),
    datacontenttype: 'application/json',
    sequence: formatSequence(event.sequence),
    data: event.data,
  };
}

/** The number of digits of PostgreSQL's largest bigint. */
const SEQUENCE_DIGITS = 19;

/** Returns a sequence, or a position in the feed, in its external form. */
export const formatSequence = (sequence: string | bigint): string =>
  String(sequence).padStart(SEQUENCE_DIGITS, '0');

export const toEventType = (name: EventName): string => `pv.${name}.v1`;

/** Parses `session.online` as well as `pv.session.online.v1`. Returns null if there is no such event. */
export function findEventName(text: string): EventName | null {
  const name = /^pv\.(.+)\.v1$/.exec(text)?.[1] ?? text;
  return isEventName(name) ? name : null;
}

import { EVENT_NAMES, isEventName, type EventName, type SequencedEvent } from './catalogue.rules.js';

/** A CloudEvent 1.0 in structured JSON form, with the extension attributes `sequence` and `traceparent`. */
export type CloudEvent = ReturnType<typeof toCloudEvent>;

export const toCloudEvent = (event: SequencedEvent, source: string) => ({
  specversion: '1.0',
  id: event.id,
  source,
  type: toEventType(event.name),
  subject: event.subject,
  time: event.time.toISOString(),
  datacontenttype: 'application/json',
  sequence: formatSequence(event.sequence),
  traceparent: event.traceparent ?? undefined,
  data: event.data,
});

/** Pads to 19 digits, the length of the largest bigint, so that sequences sort as text in feed order. */
export const formatSequence = (sequence: string | bigint): string => String(sequence).padStart(19, '0');

export const toEventType = (name: EventName): string => `pv.${name}.v1`;

/** Parses `session.online` as well as `pv.session.online.v1`. Returns null if there is no such event. */
export function findEventName(text: string): EventName | null {
  const name = /^pv\.(.+)\.v1$/.exec(text)?.[1] ?? text;
  return isEventName(name) ? name : null;
}

/** All event types, each in both forms: `pv.session.online.v1` and `session.online`. */
export const EVENT_TYPES = EVENT_NAMES.flatMap((name) => [toEventType(name), name]);

/** Returns the names of these types, each once, in catalogue order. */
export const eventNamesOf = (types: readonly string[]): EventName[] => {
  const named = new Set(types.map(findEventName));
  return EVENT_NAMES.filter((name) => named.has(name));
};

/** Returns what is wrong with a list of event types, or undefined. */
export function typesFault(value: unknown): string | undefined {
  const unknown = Array.isArray(value)
    ? value.filter((type) => !EVENT_TYPES.includes(type as string))
    : [value];
  if (unknown.length === 0) return undefined;
  const name = /^[\w.]{1,60}$/.exec(String(unknown[0]))?.[0];
  return `must list event types${name === undefined ? '' : `, and ${name} is not one`}: ${EVENT_NAMES.join(', ')}`;
}

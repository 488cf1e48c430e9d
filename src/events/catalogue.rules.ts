import { EVENT_SCHEMAS } from './event-schemas.rules.js';

interface Values {
  readonly string: string;
  readonly integer: number;
  readonly number: number;
  readonly null: null;
}

type ValueOf<S> = S extends { readonly enum: readonly (infer V)[] }
  ? V
  : S extends { readonly type: infer T extends keyof Values }
    ? Values[T]
    : S extends { readonly type: readonly (infer T extends keyof Values)[] }
      ? Values[T]
      : S extends { readonly type: 'array'; readonly items: infer I }
        ? readonly ValueOf<I>[]
        : S extends { readonly properties: infer P }
          ? { readonly [K in keyof P]: ValueOf<P[K]> }
          : Readonly<Record<string, unknown>>;

export type EventName = keyof typeof EVENT_SCHEMAS;

export type EventPayloads = { readonly [N in EventName]: ValueOf<(typeof EVENT_SCHEMAS)[N]['data']> };

export type SessionFacts = EventPayloads['session.started'];

export type ErasedCounts = EventPayloads['user.erased']['erased'];

export type NewEvent<N extends EventName = EventName> = {
  [K in N]: {
    readonly name: K;
    /** The id of the object that the event is about, or a class of remote operations. Events of one subject are in order. */
    readonly subject: string;
    readonly data: EventPayloads[K];
    /** The parent of the span of a new event (default: the current span), or the span of a stored event (null if traces are disabled). */
    readonly traceparent?: string | null;
  };
}[N];

/** An event as readers receive it. Checking `name` narrows the type. */
export type DomainEvent<N extends EventName = EventName> = NewEvent<N> & {
  /** The same in every delivery, so that readers can recognise repeats. */
  readonly id: string;
  /** The position in the feed, as a decimal number. Absent until `sequence_events` assigns it. */
  readonly sequence?: string;
  /** When the event was appended, by the database's clock. */
  readonly time: Date;
};

export type SequencedEvent = DomainEvent & { readonly sequence: string };

export const EVENT_NAMES = Object.keys(EVENT_SCHEMAS) as readonly EventName[];

export const isEventName = (text: string): text is EventName => Object.hasOwn(EVENT_SCHEMAS, text);

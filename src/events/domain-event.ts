import type { EventName, EventPayloads } from './catalogue.rules.js';

interface EventOf<N extends EventName> {
  /** The same at every delivery, so a reader that must act once can remember it. */
  readonly id: string;
  readonly name: N;
  /** See `NewEvent`. Events of one subject are in order. */
  readonly subject: string;
  /** Its place in the feed, a decimal number. Absent if the event has no sequence yet. */
  readonly sequence?: string;
  /** When it was appended, by the database's clock. */
  readonly time: Date;
  readonly data: EventPayloads[N];
}

/** An event as readers receive it. Checking `name` narrows the type. */
export type DomainEvent<N extends EventName = EventName> = { [K in N]: EventOf<K> }[N];

import type { EventName, EventPayloads } from './catalogue.rules.js';

interface EventOf<N extends EventName> {
  /** The same at every delivery: what a reader that must act once remembers. */
  readonly id: string;
  readonly name: N;
  /** The id of the session, else of the user or registration; events of one subject are in order. */
  readonly subject: string;
  /** Its place in the feed, a decimal number. Absent while no reader of the feed has asked for it. */
  readonly sequence?: string;
  /** When it was appended, by the clock of the database. */
  readonly time: Date;
  readonly data: EventPayloads[N];
}

/** An event as a reader gets it; of several names, it is narrowed by `name`. */
export type DomainEvent<N extends EventName = EventName> = { [K in N]: EventOf<K> }[N];

import type { CloudEvent } from '../cloud-event.js';

/** What the broker says that it holds of ours: nothing ever, everything up to an event, or it cannot be asked. */
export type Held =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'up_to'; readonly id: string }
  | { readonly kind: 'unknown' };

export interface Published {
  /** How many, from the first on, the broker has confirmed to have stored. */
  readonly acked: number;
  /** Why the one after them was not confirmed; it may have been stored all the same. Null when all were. */
  readonly failure: BrokerError | null;
}

/**
 * An open connection to a message broker, which is all that differs from one kind of broker to another. One process has one at a
 * time. After a failure it is closed, and another is opened.
 */
export interface EventPublisher {
  readonly held: Held;
  /** Stores the events in this order, each under its `id`, so that one that is given again is recognised. */
  publish(events: readonly CloudEvent[]): Promise<Published>;
  /** At once, whatever is under way; what is not confirmed by then is not known to be stored. Never rejects. */
  close(): Promise<void>;
}

/** Something that whoever runs the broker has to put right. Its message stands in the log and in /status, so it holds no secret. */
export class BrokerError extends Error {
  override readonly name = 'BrokerError';
}

import type { CloudEvent } from '../cloud-event.js';

/** What the broker has stored of our events: nothing ever, everything up to an event, or it cannot tell. */
export type Held =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'up_to'; readonly id: string }
  | { readonly kind: 'unknown' };

export interface Published {
  /** How many events, counted from the first, the broker has confirmed as stored. */
  readonly acked: number;
  /** Why the event after them was not confirmed; it may be stored nevertheless. Null if all were confirmed. */
  readonly failure: BrokerError | null;
}

/**
 * An open connection to a message broker; the only part that differs between kinds of brokers. A process has at most one at a time.
 * After a failure it is closed and a new one is opened.
 */
export interface EventPublisher {
  readonly held: Held;
  /** Stores the events in this order, each under its `id`, by which the broker recognises repeats. */
  publish(events: readonly CloudEvent[]): Promise<Published>;
  /** Closes at once, even during a publish; unconfirmed events may or may not be stored. Never rejects. */
  close(): Promise<void>;
}

/** A problem that the operator of the broker must fix. Its message appears in the log and in /status, so it contains no secret. */
export class BrokerError extends Error {
  override readonly name = 'BrokerError';
}

import type { CloudEvent } from '../cloud-event.js';

/** Which of our events the broker has stored: none, all up to one event, or unknown. */
export type StoredEvents =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'up_to'; readonly id: string }
  | { readonly kind: 'unknown' };

export interface Published {
  /** The number of events, counted from the first, that the broker has confirmed as stored. */
  readonly acked: number;
  /** Why the next event was not confirmed; it may have been stored nevertheless. Null if all were confirmed. */
  readonly failure: BrokerError | null;
}

/** An open connection to a message broker of any kind. After a failure, the caller closes it and opens a new connection. */
export interface EventPublisher {
  /** What the broker had stored when the connection was opened. */
  readonly stored: StoredEvents;
  /** Settings of the broker by which it may lose events that it has confirmed. */
  readonly warnings: readonly string[];
  /** Stores the events in this order, each under its `id`, by which the broker recognises repeats. */
  publish(events: readonly CloudEvent[]): Promise<Published>;
  /** Closes at once, even during a publish; unconfirmed events may or may not be stored. Never rejects. */
  close(): Promise<void>;
}

/** A failure of the broker or of the connection to it. The log and /status show the message, so it must not contain a secret. */
export class BrokerError extends Error {
  override readonly name = 'BrokerError';
}

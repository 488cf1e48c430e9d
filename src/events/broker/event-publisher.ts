import type { CloudEvent } from '../cloud-event.js';

/** An open connection to a message broker of any kind. After a failure, the caller closes it and opens a new connection. */
export interface EventPublisher {
  /** The id of the last event that the broker had stored when the connection was opened; null if none, undefined if it is unknown. */
  readonly lastId: string | null | undefined;
  /** Settings of the broker by which it may lose events that it has confirmed. */
  readonly warnings: readonly string[];
  /**
   * Stores the events in this order, each under its `id`, by which the broker recognises repeats. Returns how many of them, counted from the
   * first, it has confirmed; fewer than all after a failure. Throws BrokerError if it has confirmed none.
   */
  publish(events: readonly CloudEvent[]): Promise<number>;
  /** Closes at once, even during a publish; unconfirmed events may or may not be stored. Never rejects. */
  close(): Promise<void>;
}

/** A failure of the broker or of the connection to it. The log and /status show the message, so it must not contain a secret. */
export class BrokerError extends Error {
  override readonly name = 'BrokerError';
}

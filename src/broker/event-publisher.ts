import type { CloudEvent } from '../events/cloud-event.js';

/** An open connection to a message broker. After a failure, the caller closes it and opens a new one. */
export interface EventPublisher {
  /** The id of the last event stored by the broker when the connection was opened; null if there was none, undefined if it is unknown. */
  readonly lastId: string | null | undefined;
  /** Each warning describes a setting with which the broker may lose events that it has confirmed. */
  readonly warnings: readonly string[];
  /**
   * Stores the events in this order. The broker recognises a repeated event by its `id`. Returns how many events, counted from the first,
   * the broker has confirmed: fewer than all after a failure. Throws BrokerError if the first event failed. Also throws without events if
   * the connection is closed, so that a broker that is away is known before the next event.
   */
  publish(events: readonly CloudEvent[]): Promise<number>;
  /** Closes the connection at once, even during a publish, whose unconfirmed events may or may not be stored. Never rejects. */
  close(): Promise<void>;
}

/** A failure of the broker or of the connection to it. The log and /status show the message, so it must not contain a secret. */
export class BrokerError extends Error {
  override readonly name = 'BrokerError';
}

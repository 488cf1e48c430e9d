import type { SequencedEvent } from '../feed/events.store.js';
import type { DeliveryPlan, PastAttempts, SendOutcome } from './delivery-plan.rules.js';

/** The first pending delivery of a subject, with its event. */
export type DueDelivery = SequencedEvent &
  PastAttempts & {
    readonly deliveryId: string;
    readonly position: string;
  };

export interface Attempt {
  readonly delivery: DueDelivery;
  readonly outcome: SendOutcome;
  readonly plan: DeliveryPlan;
  /** When the event was sent, by `performance.now()`. */
  readonly sentAtMs: number;
}

/** How the events of one endpoint leave: as requests to a URL, or as calls of a handler. */
export interface Outlet {
  /** Whether the endpoint is disabled or deleted. A closed outlet stays closed. */
  readonly isClosed: boolean;
  /** How long `send` may continue while the process stops. */
  readonly stopWithinMs: number;
  /** Reads the settings of the endpoint again, if they may have changed. */
  refresh(): Promise<void>;
  /** Returns how many events may be in flight. 0 if closed or in a quiet period. */
  places(): number;
  /** Never rejects: failures are outcomes. */
  send(delivery: DueDelivery): Promise<SendOutcome>;
  /** Returns the ms to wait after so many failed attempts before this one; undefined if no retry follows. */
  waitAfter(failures: number): number | undefined;
  /** Called when an attempt has ended, before it is recorded. */
  report(attempt: Attempt): void;
  /** Records attempts, at most one per subject. Returns whether a subject's next delivery is due. */
  record(attempts: readonly Attempt[]): Promise<boolean>;
  /** Ends the attempts in flight, if that is possible. */
  close(): void;
}

import { stopsWithin } from '../platform/shutdown/limits.js';
import type { SequencedEvent } from '../events/catalogue.rules.js';
import type { DeliveryPlan, PastAttempts, SendOutcome } from './delivery-plan.rules.js';

/** The delivery of events. Afterwards, other workers claim the endpoints. */
export const DELIVERIES_STOP_WITHIN_MS = stopsWithin(3_000);

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
  /** When the attempt began, by `performance.now()`. */
  readonly sentAtMs: number;
}

/** Sends the events of one endpoint, as requests to a URL or as calls of a handler. */
export interface Outlet {
  /** Whether the endpoint is disabled or deleted. A closed outlet stays closed. */
  readonly isClosed?: boolean;
  /** How long attempts in flight may continue when the drain ends, for example because the process stops. */
  readonly stopWithinMs: number;
  /** Reads the settings of the endpoint again, if they may have changed. */
  refresh?(): Promise<void>;
  /** Returns how many events may be in flight: 0 if the outlet is closed or the endpoint is in a quiet period. */
  places(): number;
  /** Takes places for deliveries that are being claimed, so that nothing else takes them. Returns a function that releases them. */
  reserve?(count: number): () => void;
  /** Makes one attempt. Never rejects: a failure is an outcome. */
  send(delivery: DueDelivery): Promise<SendOutcome>;
  /** Returns the ms to wait after a failure, given the number of earlier failures; undefined if no retry follows. */
  waitAfter(failures: number): number | undefined;
  /** Counts or logs an attempt that has ended, before it is recorded. */
  report(attempt: Attempt): void;
  /** Records attempts, at most one per subject. Returns whether the next delivery of one of the subjects is due. */
  record(attempts: readonly Attempt[]): Promise<boolean>;
  /** Aborts the attempts in flight. */
  close?(): void;
}

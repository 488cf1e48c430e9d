import { Injectable, Logger } from '@nestjs/common';
import { type DocumentedFields, type Drift, findDrift, foreignId } from './drift.js';
import { DriftStore } from './drift.store.js';
import type { OperationClass, Outcome, Sent } from '../outcome.rules.js';
import { UnreadableAnswer } from '../wire/read-response.js';
import { readObject } from '../wire/read-field.js';

/** Bounds the memory if the service changes its field names constantly. */
const MOST_SAID = 1_000;
/** A known difference is recorded again at most this often, to keep last_seen_at current. */
const SAY_AGAIN_MS = 3_600_000;

const NOT_AN_OBJECT: Drift = {
  kind: 'other_type',
  field: 'body',
  expected: 'object',
  found: 'no JSON object',
};

/**
 * Records where responses differ from the interface, once per difference and outside the calls: no call waits for it or fails by it. It
 * parses each body, so pass only new responses, not every poll.
 */
@Injectable()
export class ContractDrift {
  private readonly logger = new Logger('Remote');
  /** By operation, kind and field: the monotonic time until which the difference is not recorded again. */
  private readonly said = new Map<string, number>();

  constructor(private readonly store: DriftStore) {}

  /** Compares a 2xx response with the documented fields; ignores all other responses. */
  examine(operation: OperationClass, sent: Sent, documented: DocumentedFields): void {
    if (sent.kind !== 'answered' || sent.answer.bodyFault !== undefined) return;
    const { status, body } = sent.answer;
    if (status >= 200 && status < 300) this.report(operation, compare(body, documented));
  }

  /** Reports an outcome that is unreadable because the response names another object than requested. */
  examineOutcome(operation: OperationClass, outcome: Outcome<unknown>): void {
    if (outcome.kind === 'unreadable' && outcome.foreignField !== undefined)
      this.report(operation, [foreignId(outcome.foreignField)]);
  }

  report(operation: OperationClass, drifts: readonly Drift[]): void {
    if (drifts.length === 0) return;
    const now = performance.now();
    const fresh = drifts.filter((drift) => (this.said.get(keyOf(operation, drift)) ?? 0) <= now);
    if (fresh.length === 0) return;
    if (this.said.size > MOST_SAID) this.said.clear();
    for (const drift of fresh) this.said.set(keyOf(operation, drift), now + SAY_AGAIN_MS);
    void this.record(operation, fresh);
  }

  private async record(operation: OperationClass, drifts: readonly Drift[]): Promise<void> {
    try {
      for (const { kind, field } of await this.store.record(operation, drifts))
        this.logger.warn(`${operation} answers otherwise than the interface describes: ${kind} ${field}`);
    } catch (error) {
      // The next response with the difference tries again.
      for (const drift of drifts) this.said.delete(keyOf(operation, drift));
      this.logger.warn(`drift not recorded: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

const keyOf = (operation: OperationClass, { kind, field }: Drift): string => `${operation} ${kind} ${field}`;

function compare(body: string, documented: DocumentedFields): Drift[] {
  try {
    return findDrift(readObject(body), documented);
  } catch (error) {
    if (error instanceof UnreadableAnswer) return [NOT_AN_OBJECT];
    throw error;
  }
}

import { Injectable, Logger } from '@nestjs/common';
import { type DocumentedFields, type Drift, findDrift, foreignId } from './drift.js';
import { DriftStore } from './drift.store.js';
import type { OperationClass, Outcome, Sent } from '../outcome.rules.js';
import { UnreadableAnswer } from '../wire/read-response.js';
import { readObject } from '../wire/read-field.js';

/** A service that names its fields anew each time must not fill our memory. */
const MOST_SAID = 1_000;
/** What is known is said again at most this often, so that last_seen_at keeps up. */
const SAY_AGAIN_MS = 3_600_000;

const NOT_AN_OBJECT: Drift = {
  kind: 'other_type',
  field: 'body',
  expected: 'object',
  found: 'no JSON object',
};

/**
 * Notes where answers differ from the interface, once for each difference, and beside the calls: nobody waits for it, and no call
 * fails by it. It parses what it is given, so give it answers that are new, not every poll.
 */
@Injectable()
export class ContractDrift {
  private readonly logger = new Logger('Remote');
  /** By operation, kind and field: until when (monotonic) there is nothing to say. */
  private readonly said = new Map<string, number>();

  constructor(private readonly store: DriftStore) {}

  /** An answer with a status of 2xx is held against what the interface describes; anything else is not. */
  examine(operation: OperationClass, sent: Sent, documented: DocumentedFields): void {
    if (sent.kind !== 'answered' || sent.answer.bodyFault !== undefined) return;
    const { status, body } = sent.answer;
    if (status >= 200 && status < 300) this.report(operation, compare(body, documented));
  }

  /** An outcome that is unreadable because its answer is about something else than what was asked for. */
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
      // The next answer that has it tries again.
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

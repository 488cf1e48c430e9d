import { Injectable, Logger } from '@nestjs/common';
import { errorText } from '../../observability/redaction/error-text.js';
import { type DocumentedFields, type Drift, findDrift, foreignId } from './drift.js';
import type { OperationClass, Outcome, RemoteResponse, Sent } from '../outcome.rules.js';
import { Remote } from '../remote.service.js';
import { isObjectLike } from '../wire/exchange.js';
import { outcomeOf } from '../wire/read-response.js';
import { type Fields, readObject } from '../wire/read-field.js';
import { DriftStore } from './drift.store.js';

/** Limits the size of `reported` in case the remote service changes its field names constantly. */
const MAX_REPORTED = 1_000;
/** A known difference is recorded again at most this often, to keep last_seen_at current. */
const REPORT_AGAIN_MS = 3_600_000;

/** Records in the background how responses differ from the interface. The poller passes only changed responses, so that polling stays cheap. */
@Injectable()
export class ContractDrift {
  private readonly logger = new Logger('Remote');
  /** Key: operation, kind and field. Value: the monotonic time until which the difference is not recorded again. */
  private readonly reported = new Map<string, number>();

  constructor(
    private readonly store: DriftStore,
    private readonly remote: Remote,
  ) {}

  /** Returns the outcome of a call and reports the drift of a 2xx response. `read` interprets the fields or throws UnreadableResponse. */
  interpret<T>(
    operation: OperationClass,
    sent: Sent,
    documented: DocumentedFields,
    read: (fields: Fields, response: RemoteResponse) => T,
    parse?: (text: string) => unknown,
  ): Outcome<T> {
    const outcome = outcomeOf(sent, (response) => {
      let fields: Fields;
      try {
        fields = readObject(response.body, parse);
      } catch (error) {
        this.report(operation, [
          { kind: 'other_type', field: 'body', expected: 'object', found: 'no JSON object' },
        ]);
        throw error;
      }
      this.report(operation, findDrift(fields, documented));
      return read(fields, response);
    });
    if (outcome.kind === 'unreadable') this.noteUnreadable(operation, sent, outcome);
    return outcome;
  }

  private noteUnreadable(
    operation: OperationClass,
    sent: Sent,
    { status, reason, foreignField }: Extract<Outcome<never>, { kind: 'unreadable' }>,
  ): void {
    if (foreignField !== undefined) this.report(operation, [foreignId(foreignField)]);
    // The exchange has noted any other body, with its first characters. An object may hold personal data, so only the reason is shown.
    const isNoted = sent.kind !== 'response' || !isObjectLike(sent.response.body);
    if (!isNoted) this.remote.noteFault(operation, `unreadable: status ${status}, ${reason}`);
  }

  report(operation: OperationClass, drifts: readonly Drift[]): void {
    const now = performance.now();
    const fresh = drifts.filter((drift) => (this.reported.get(keyOf(operation, drift)) ?? 0) <= now);
    if (fresh.length === 0) return;
    if (this.reported.size > MAX_REPORTED) this.reported.clear();
    for (const drift of fresh) this.reported.set(keyOf(operation, drift), now + REPORT_AGAIN_MS);
    void this.record(operation, fresh);
  }

  private async record(operation: OperationClass, drifts: readonly Drift[]): Promise<void> {
    try {
      for (const { kind, field } of await this.store.recordDrift(operation, drifts))
        this.logger.warn(`a response to ${operation} differs from the interface: ${kind} ${field}`);
    } catch (error) {
      // Forgets the differences, so that the next response with the same difference records it.
      for (const drift of drifts) this.reported.delete(keyOf(operation, drift));
      this.logger.warn(`drift not recorded: ${errorText(error)}`);
    }
  }
}

const keyOf = (operation: OperationClass, { kind, field }: Drift): string => `${operation} ${kind} ${field}`;

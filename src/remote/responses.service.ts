import { Injectable, Logger } from '@nestjs/common';
import { errorText } from '../platform/redaction/error-text.js';
import { Database } from '../platform/database/database.js';
import { type DocumentedFields, type Drift, findDrift, foreignId } from './drift/drift.js';
import { recordDrift } from './drift/drift.store.js';
import { isObjectLike, type OperationClass, type Outcome } from './outcome.rules.js';
import type { RemoteResponse, Sent } from './outcome.rules.js';
import { Remote } from './remote.service.js';
import { outcomeOf } from './wire/read-response.js';
import { type Fields, readObject } from './wire/read-field.js';

/** Limits the size of `reported` in case the remote service changes its field names constantly. */
const MAX_REPORTED = 1_000;
/** A known difference is recorded again at most this often, to keep last_seen_at current. */
const REPORT_AGAIN_MS = 3_600_000;

interface ResponseReader<T> {
  readonly documented: DocumentedFields;
  read(fields: Fields, response: RemoteResponse): T;
}

/** Returns the `faultOf` of a request whose response `reader` reads. */
export const faultBy =
  <T>({ read }: ResponseReader<T>) =>
  (response: RemoteResponse): string | undefined => {
    const readBody = () => read(readObject(response.body), response);
    const outcome = outcomeOf({ kind: 'response', response }, readBody);
    return outcome.kind === 'unreadable' ? faultIn(outcome) : undefined;
  };

/** Describes an outcome for the status of its operation. */
const faultIn = ({ status, reason }: Extract<Outcome<never>, { kind: 'unreadable' }>): string =>
  `unreadable: status ${status}, ${reason}`;

const NO_OBJECT: Drift = { kind: 'other_type', field: 'body', expected: 'object', found: 'no JSON object' };

/**
 * Interprets responses, and records in the background how they differ from the interface. The poller passes only changed responses, so that
 * polling stays cheap.
 */
@Injectable()
export class Responses {
  private readonly logger = new Logger('Remote');
  /** Key: operation, kind and field. Value: the monotonic time until which the difference is not recorded again. */
  private readonly reported = new Map<string, number>();

  constructor(
    private readonly database: Database,
    private readonly remote: Remote,
  ) {}

  /** Returns the outcome of a call, and reports the drift of a 2xx response. */
  interpret<T>(operation: OperationClass, sent: Sent, { documented, read }: ResponseReader<T>) {
    let fields: Fields | undefined;
    const outcome = outcomeOf(sent, (response) => {
      fields = readObject(response.body);
      this.reportDrift(operation, findDrift(fields, documented));
      return read(fields, response);
    });
    if (outcome.kind !== 'unreadable') return outcome;
    const { foreignField } = outcome;
    if (fields === undefined) this.reportDrift(operation, [NO_OBJECT]);
    if (foreignField !== undefined) this.reportDrift(operation, [foreignId(foreignField)]);
    // `classifyResponse` has reported any other body, with its first characters. An object may have personal data: report only the reason.
    if (sent.kind === 'response' && isObjectLike(sent.response.body))
      this.remote.gates[operation].noteFault(faultIn(outcome));
    return outcome;
  }

  reportDrift(operation: OperationClass, drifts: readonly Drift[]): void {
    const now = performance.now();
    const fresh = drifts.filter((drift) => (this.reported.get(keyOf(operation, drift)) ?? 0) <= now);
    if (fresh.length === 0) return;
    if (this.reported.size > MAX_REPORTED) this.reported.clear();
    for (const drift of fresh) this.reported.set(keyOf(operation, drift), now + REPORT_AGAIN_MS);
    void this.record(operation, fresh);
  }

  private async record(operation: OperationClass, drifts: readonly Drift[]): Promise<void> {
    try {
      for (const { kind, field } of await recordDrift(this.database, operation, drifts))
        this.logger.warn(`a response to ${operation} differs from the interface: ${kind} ${field}`);
    } catch (error) {
      // Forgets the differences, so that the next response with the same difference records it.
      for (const drift of drifts) this.reported.delete(keyOf(operation, drift));
      this.logger.warn(`drift not recorded: ${errorText(error)}`);
    }
  }
}

const keyOf = (operation: OperationClass, { kind, field }: Drift): string => `${operation} ${kind} ${field}`;

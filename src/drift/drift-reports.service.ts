import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { errorText } from '../platform/redaction/error-text.js';
import type { Drift } from '../remote/drift.js';
import type { OperationClass } from '../remote/outcome.rules.js';
import { Responses } from '../remote/responses.service.js';
import { recordDrift } from './drift.store.js';
import { findDrift } from './find-drift.js';

/** Limits the size of `reported` in case the remote service changes its field names constantly. */
const MAX_REPORTED = 1_000;
/** A known difference is recorded again at most this often, to keep last_seen_at current. */
const REPORT_AGAIN_MS = 3_600_000;

/** Records in the background how responses differ from the interface. */
@Injectable()
export class DriftReports {
  private readonly logger = new Logger('Remote');
  /** Key: operation, kind and field. Value: the monotonic time until which the difference is not recorded again. */
  private readonly reported = new Map<string, number>();

  constructor(
    private readonly database: Database,
    responses: Responses,
  ) {
    responses.compare = (operation, fields, documented) =>
      this.report(operation, findDrift(fields, documented));
    responses.reportDrift = (operation, drifts) => this.report(operation, drifts);
  }

  private report(operation: OperationClass, drifts: readonly Drift[]): void {
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

import { Injectable } from '@nestjs/common';
import { appendEvents } from '../../events/outbox.js';
import { Database } from '../../platform/database/database.js';
import type { Drift } from './drift.js';
import { RECORD } from './drift.sql.js';
import { LOCK } from '../shared/operations.sql.js';
import type { OperationClass } from '../outcome.rules.js';

interface RecordedDrift extends Drift {
  readonly firstSeenAt: Date;
  readonly isNew: boolean;
}

@Injectable()
export class DriftStore {
  constructor(private readonly database: Database) {}

  /** Records differences and returns the new ones. Each is announced once for all replicas. */
  async record(operation: OperationClass, drifts: readonly Drift[]): Promise<Drift[]> {
    return this.database.transaction(async (tx) => {
      await tx.query(LOCK, [operation]);
      const recorded = await tx.query<RecordedDrift>(RECORD, [operation, JSON.stringify(drifts)]);
      const added = recorded.filter(({ isNew }) => isNew);
      await appendEvents(
        tx,
        added.map(({ kind, field, expected, found, firstSeenAt }) => ({
          name: 'remote.contract_drift',
          subject: operation,
          data: { operation, kind, field, expected, found, observedAt: firstSeenAt.toISOString() },
        })),
      );
      return added;
    });
  }
}

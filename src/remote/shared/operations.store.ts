import { Injectable } from '@nestjs/common';
import { appendEvents } from '../../events/outbox.js';
import { Database, type Transaction } from '../../platform/database/database.js';
import type { OperationClass } from '../outcome.rules.js';
import { CONFIRM_TROUBLE, DEGRADE, HOLD_BACK, READ, RECOVER, REJECT_CREDENTIALS } from './operations.sql.js';

/** The shared state of an operation; times are milliseconds from now by the database's clock (0 or negative: past). */
export interface SharedOperation {
  readonly operation: OperationClass;
  readonly health: 'healthy' | 'degraded' | 'credentials_rejected';
  readonly since: Date;
  readonly reason: string | null;
  readonly quietMs: number;
  readonly troubleMs: number;
}

/**
 * What all replicas together know about the remote service. A change of health and its event commit together; only the replica that makes
 * the change writes the event.
 */
@Injectable()
export class OperationsStore {
  constructor(private readonly database: Database) {}

  async read(): Promise<SharedOperation[]> {
    return this.database.query<SharedOperation>(READ);
  }

  /** Blocks this operation in all replicas for this long, at most an hour. */
  async holdBack(operation: OperationClass, quietMs: number): Promise<void> {
    await this.database.query(HOLD_BACK, [operation, quietMs]);
  }

  /** Records trouble. A success within `troubleMs` from now is not a recovery: see `recover`. */
  async degrade(operation: OperationClass, reason: string, troubleMs: number): Promise<void> {
    await this.database.transaction(async (tx) => {
      const [moved] = await tx.query<{ since: Date }>(DEGRADE, [operation, reason, troubleMs]);
      if (moved === undefined) return void (await tx.query(CONFIRM_TROUBLE, [operation, troubleMs]));
      const data = { operation, reason, since: moved.since.toISOString() };
      await appendEvents(tx, [{ name: 'remote.degraded', subject: operation, data }]);
    });
  }

  /** Records the recovery; with `once_trouble_is_over`, only if the trouble of every replica is over. */
  async recover(operation: OperationClass, when: 'now' | 'once_trouble_is_over'): Promise<void> {
    await this.database.transaction((tx) =>
      recoverFrom(tx, operation, 'degraded', when === 'once_trouble_is_over'),
    );
  }
}

/** Records that the service rejects the credentials or fresh tokens; announces it if it was not known yet. */
export async function rejectCredentials(tx: Transaction, reason: string): Promise<void> {
  const [moved] = await tx.query<{ since: Date }>(REJECT_CREDENTIALS, [reason]);
  if (moved === undefined) return;
  const data = { operation: 'token', reason, since: moved.since.toISOString() } as const;
  await appendEvents(tx, [{ name: 'remote.credentials_rejected', subject: 'token', data }]);
}

/** Records that the service accepts a token; announces it if the service had rejected the credentials. */
export async function acceptCredentials(tx: Transaction): Promise<void> {
  await recoverFrom(tx, 'token', 'credentials_rejected', false);
}

async function recoverFrom(
  tx: Transaction,
  operation: OperationClass,
  from: 'degraded' | 'credentials_rejected',
  onceTroubleIsOver: boolean,
): Promise<void> {
  const [moved] = await tx.query<{ since: Date; recoveredAt: Date }>(RECOVER, [
    operation,
    from,
    onceTroubleIsOver,
  ]);
  if (moved === undefined) return;
  const [since, recoveredAt] = [moved.since.toISOString(), moved.recoveredAt.toISOString()];
  const data = { operation, from, since, recoveredAt };
  await appendEvents(tx, [{ name: 'remote.recovered', subject: operation, data }]);
}

import { Injectable } from '@nestjs/common';
import { appendEvents } from '../../events/outbox.js';
import { Database, type Transaction } from '../../platform/database/database.js';
import type { OperationClass } from '../outcome.rules.js';
import { CONFIRM_TROUBLE, DEGRADE, HOLD_BACK, READ, RECOVER, REJECT_CREDENTIALS } from './operations.sql.js';

/** What all replicas know of an operation; times as milliseconds from now by the database's clock (0 or negative: past). */
export interface SharedOperation {
  readonly operation: OperationClass;
  readonly health: 'healthy' | 'degraded' | 'credentials_rejected';
  readonly since: Date;
  readonly reason: string | null;
  readonly quietMs: number;
  readonly troubleMs: number;
}

/**
 * What all replicas together know of the remote service. A change of health and its event commit together, and only for whoever
 * makes the change.
 */
@Injectable()
export class OperationsStore {
  constructor(private readonly database: Database) {}

  async read(): Promise<SharedOperation[]> {
    return this.database.query<SharedOperation>(READ);
  }

  /** No replica sends this operation for so long, at most an hour. */
  async holdBack(operation: OperationClass, quietMs: number): Promise<void> {
    await this.database.query(HOLD_BACK, [operation, quietMs]);
  }

  /** A success within `troubleMs` from now is no recovery: see `recover`. */
  async degrade(operation: OperationClass, reason: string, troubleMs: number): Promise<void> {
    await this.database.transaction(async (tx) => {
      const [moved] = await tx.query<{ since: Date }>(DEGRADE, [operation, reason, troubleMs]);
      if (moved === undefined) return void (await tx.query(CONFIRM_TROUBLE, [operation, troubleMs]));
      const data = { operation, reason, since: moved.since.toISOString() };
      await appendEvents(tx, [{ name: 'remote.degraded', subject: operation, data }]);
    });
  }

  /** `once`: only when the trouble of every replica is over. */
  async recover(operation: OperationClass, when: 'now' | 'once_trouble_is_over'): Promise<void> {
    await this.database.transaction((tx) =>
      recoverFrom(tx, operation, 'degraded', when === 'once_trouble_is_over'),
    );
  }
}

/** The service refuses the credentials, or fresh tokens. Announced when it was not known yet. */
export async function rejectCredentials(tx: Transaction, reason: string): Promise<void> {
  const [moved] = await tx.query<{ since: Date }>(REJECT_CREDENTIALS, [reason]);
  if (moved === undefined) return;
  const data = { operation: 'token', reason, since: moved.since.toISOString() } as const;
  await appendEvents(tx, [{ name: 'remote.credentials_rejected', subject: 'token', data }]);
}

/** The service accepts a token again. Announced when it had refused. */
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

import { Injectable } from '@nestjs/common';
import type { Sql } from '../platform/database/database.js';
import { currentRequest } from '../platform/http/request-context.js';

export interface AuditEntry {
  /** From `actorOf`, or a name such as `cli` for what acts without a key. */
  readonly actor: string;
  /** An object and a past participle, such as `api_key.created`. */
  readonly action: string;
  readonly target?: string;
  /** No secret and nothing personal: erasure does not reach the audit log. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Taken from the current request when it is left out. */
  readonly requestId?: string;
}

/** Who did what. An entry commits with the change it tells, through the change's own transaction. */
@Injectable()
export class AuditLog {
  async record(tx: Sql, { actor, action, target, details = {}, requestId }: AuditEntry): Promise<void> {
    await tx.query(
      'INSERT INTO audit_log (actor, action, target, details, request_id) VALUES ($1, $2, $3, $4::jsonb, $5)',
      [
        actor,
        action,
        target ?? null,
        JSON.stringify(details),
        requestId ?? currentRequest()?.requestId ?? null,
      ],
    );
  }
}

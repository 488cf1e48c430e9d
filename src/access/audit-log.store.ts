import { Injectable } from '@nestjs/common';
import type { Sql, Statement } from '../platform/database/database.js';
import { currentRequest } from '../platform/http/request-context.js';

export interface AuditEntry {
  /** From `actorOf`, or a name such as `cli` for actions without a key. */
  readonly actor: string;
  /** An object and a past participle, such as `api_key.created`. */
  readonly action: string;
  readonly target?: string;
  /** No secrets or personal data: erasure does not change it. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Default: the id of the current request. */
  readonly requestId?: string;
}

/** Inserts all entries of a change at once: rederiving writes up to 500 sessions at a time. */
const INSERT_ENTRIES: Statement = {
  name: 'audit.insert-entries',
  text: `
    INSERT INTO audit_log (actor, action, target, details, request_id)
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS e(actor text, action text, target text, details jsonb, request_id text)`,
};

/** Callers choose request ids freely, so an id may name the person whom the request was about. */
export const ERASE_REQUEST_IDS: Statement = {
  name: 'audit.erase-request-ids',
  text: 'UPDATE audit_log SET request_id = NULL WHERE target = ANY ($1::text[])',
};

/** Records who did what. An entry commits with the change it describes, in the same transaction. */
@Injectable()
export class AuditLog {
  async record(tx: Sql, ...entries: readonly AuditEntry[]): Promise<void> {
    const ofRequest = currentRequest()?.requestId;
    const rows = entries.map(({ details = {}, requestId = ofRequest, ...entry }) => ({
      ...entry,
      details,
      request_id: requestId,
    }));
    if (rows.length > 0) await tx.query(INSERT_ENTRIES, [JSON.stringify(rows)]);
  }

  /** Clears the request id, the only field that may be personal, in the entries about these targets. */
  async eraseRequestIds(tx: Sql, targets: readonly string[]): Promise<void> {
    await tx.query(ERASE_REQUEST_IDS, [targets]);
  }
}

import { Injectable } from '@nestjs/common';
import { type AuditEntry, recordAudit } from '../access/audit-log.store.js';
import { Database } from '../platform/database/database.js';

const FIND_ERASED = `
    SELECT FROM users WHERE id = ANY ($1::uuid[]) AND erased_at IS NOT NULL
    UNION ALL SELECT FROM grid_locations g JOIN users u ON u.id = g.user_id
      WHERE g.id = ANY ($1::uuid[]) AND u.erased_at IS NOT NULL
    UNION ALL SELECT FROM onboarding_sessions WHERE id = ANY ($1::uuid[]) AND close_reason = 'erased'
    LIMIT 1`;

@Injectable()
export class PassThroughStore {
  constructor(private readonly database: Database) {}

  /**
   * Audits a call that is about to be sent. Returns whether it may be: not if one of the ids belongs to an erased person. Throws Problem
   * unauthenticated if the caller may no longer act.
   */
  admit(ids: readonly string[], entry: AuditEntry): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      if (ids.length > 0 && (await tx.query(FIND_ERASED, [ids])).length > 0) return false;
      await recordAudit(tx, entry);
      return true;
    });
  }
}

import { Injectable } from '@nestjs/common';
import { recordAudit } from '../access/audit-log.store.js';
import { Database } from '../platform/database/database.js';
import type { StallKind } from '../stalls/cause.rules.js';
import type { ListedStall } from './stall-lists.store.js';
import * as sql from './stalled.sql.js';

/** Only the given fields change. Null removes the value of a field. */
interface StallWork {
  readonly note?: string | null;
  readonly assignee?: string | null;
  readonly snoozedUntil?: Date | null;
}

/** Writes what people know about a stall: beside what its rule has found, which only the task writes. */
@Injectable()
export class StallWorkStore {
  constructor(private readonly database: Database) {}

  /** Returns the changed stall, or when the last stall of the subject ended, or null if it was never stalled. */
  async change(
    kind: StallKind,
    id: string,
    work: StallWork,
    actor: string,
  ): Promise<ListedStall | { readonly overSince: Date } | null> {
    return this.database.transaction(async (tx) => {
      const [stall] = await tx.query<{ cause: string }>(sql.LOCK_STALL, [kind, id]);
      if (stall === undefined) {
        const [end] = await tx.query<{ time: Date }>(sql.FIND_END, [kind, id]);
        return end === undefined ? null : { overSince: end.time };
      }
      const values = [work.note, work.assignee, work.snoozedUntil].flatMap((value) => [
        value !== undefined,
        value ?? null,
      ]);
      const [changed] = await tx.query<ListedStall>(sql.WORK_ON_STALL, [kind, id, ...values]);
      // Not the texts: an erasure keeps the audit log.
      const { snoozedUntil } = work;
      const details = {
        kind,
        cause: stall.cause,
        changed: Object.keys(work),
        ...(snoozedUntil && { snoozedUntil }),
      };
      await recordAudit(tx, { actor, action: 'stall.changed', target: id, details });
      return changed!;
    });
  }
}

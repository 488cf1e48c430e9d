import { Injectable } from '@nestjs/common';
import { recordAudit } from '../access/audit-log.store.js';
import { Database } from '../platform/database/database.js';
import { parseJsonTimestamp } from '../platform/database/timestamps.js';
import type { Page } from '../platform/http/page.js';
import type { StallKind } from '../stalls/cause.rules.js';
import type { StalledGroupView, StalledItemView } from './stalled-items.view.js';
import type { StallChange } from './stalled.dto.js';
import { STALLED, type StalledQuery } from './stalled.list.js';
import * as sql from './stalled.sql.js';

/** A stall without what the catalogue says about its cause. */
export type ListedStall = Omit<
  StalledItemView,
  'object' | 'waitsFor' | 'urgency' | 'text' | 'before' | 'remedies'
>;

interface StallGroup extends Pick<StalledGroupView, 'kind' | 'cause' | 'count' | 'new'> {
  readonly items: readonly ListedStall[];
}

const OLDEST_OF_GROUP = 10;

/** Reads the stalls for the API, and writes what people know about them: what a rule has found, only the task writes. */
@Injectable()
export class StalledStore {
  constructor(private readonly database: Database) {}

  /** Lists the stalls of the kinds `readable`, the oldest first. */
  list(query: StalledQuery, readable: readonly StallKind[]): Promise<Page<ListedStall>> {
    return STALLED.page(this.database, query, ['w.kind = ANY (?)', readable]);
  }

  async group(readable: readonly StallKind[]): Promise<StallGroup[]> {
    const rows = await this.database.query<StallGroup>(sql.GROUP_STALLS, [readable, OLDEST_OF_GROUP]);
    const atInstants = (item: ListedStall) => ({
      ...item,
      since: parseJsonTimestamp(String(item.since)),
      raisedAt: parseJsonTimestamp(String(item.raisedAt)),
      snoozedUntil: item.snoozedUntil && parseJsonTimestamp(String(item.snoozedUntil)),
    });
    return rows.map((group) => ({ ...group, items: group.items.map(atInstants) }));
  }

  /** Returns the changed stall, or when the last stall of the subject ended, or null if it was never stalled. */
  async change(
    id: string,
    { kind, ...work }: StallChange,
    actor: string,
  ): Promise<ListedStall | { readonly overSince: Date } | null> {
    return this.database.transaction(async (tx) => {
      const [stall] = await tx.query<{ cause: string }>(sql.LOCK_STALL, [kind, id]);
      if (stall === undefined) {
        const [end] = await tx.query<{ time: Date }>(sql.FIND_END, [kind, id]);
        return end === undefined ? null : { overSince: end.time };
      }
      const { note, assignee, snoozedUntil } = work;
      const values = [note, assignee, snoozedUntil].flatMap((value) => [value !== undefined, value ?? null]);
      const [changed] = await tx.query<ListedStall>(sql.WORK_ON_STALL, [kind, id, ...values]);
      // Not the texts: an erasure keeps the audit log.
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

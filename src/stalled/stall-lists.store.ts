import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import type { Page } from '../platform/http/page.js';
import { parseJsonTimestamp } from '../platform/database/timestamps.js';
import type { StallKind } from '../stalls/cause.rules.js';
import type { StalledItemView } from './stalled-items.view.js';
import { STALLED, type StalledQuery } from './stalled.list.js';
import * as sql from './stalled.sql.js';

type Filtered = 'tenantReference' | 'gridLocationId' | 'brand' | 'campaignId';

export type ListedStall = Pick<
  StalledItemView,
  | 'kind'
  | 'id'
  | 'cause'
  | 'since'
  | 'raisedAt'
  | 'evidence'
  | 'note'
  | 'assignee'
  | 'snoozedUntil'
  | Filtered
>;

interface StallGroup {
  readonly kind: StallKind;
  readonly cause: string;
  readonly count: number;
  readonly new: number;
  readonly items: readonly ListedStall[];
}

const OLDEST_OF_GROUP = 10;

/** Reads the stalls for the API. */
@Injectable()
export class StallListsStore {
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
}

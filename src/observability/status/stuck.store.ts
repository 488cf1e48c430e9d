import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { ListPosition } from '../../platform/database/list-position.js';
import { whereOf } from '../../platform/database/where.js';
import type { FilterOf } from '../../platform/http/page.js';
import type { StuckGroupView, StuckQuery, StuckView } from './stuck.view.js';

/** Reads `admin.stuck`. */
@Injectable()
export class StuckStore {
  constructor(private readonly database: Database) {}

  /** Returns what is stuck, the oldest first. Reads every open session, unless the filter names one. */
  list(
    { kind, id }: FilterOf<StuckQuery>,
    after: ListPosition | undefined,
    limit: number,
  ): Promise<StuckView[]> {
    const { where, values } = whereOf([
      ['kind = ?', kind],
      ['id = ?::uuid', id],
      ['(since, id) > (?, ?::uuid)', after?.at, after?.id],
    ]);
    const text = `SELECT kind, id, tenant_reference AS "tenantReference", reason, since, what_to_do AS "whatToDo"
       FROM admin.stuck ${where} ORDER BY since, id LIMIT ${limit}`;
    return this.database.query<StuckView>(text, values);
  }

  /** Returns what is stuck by kind and reason: first the groups with the most new items, of these the largest. */
  group(): Promise<StuckGroupView[]> {
    return this.database.query<StuckGroupView>(GROUP);
  }
}

const GROUP = `
  SELECT kind, reason, count(*)::int, count(*) FILTER (WHERE since > now() - interval '24 h')::int AS new,
    jsonb_agg(jsonb_build_object('kind', kind, 'id', id, 'tenantReference', tenant_reference, 'reason', reason,
        'since', to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'whatToDo', what_to_do) ORDER BY since, id) FILTER (WHERE number <= 50) AS oldest
    FROM (SELECT *, row_number() OVER (PARTITION BY kind, reason ORDER BY since, id) AS number FROM admin.stuck) AS stuck
   GROUP BY kind, reason
   ORDER BY new DESC, count(*) DESC, kind, reason
   LIMIT 200`;

import type { Sql } from '../platform/database/database.js';
import { selectPage } from '../platform/database/select-page.js';
import type { StuckGroupView, StuckQuery, StuckView } from './stuck.view.js';

const SELECT_STUCK = `
  SELECT kind, id, tenant_reference AS "tenantReference", reason, since, what_to_do AS "whatToDo" FROM admin.stuck`;

const GROUP = `
  SELECT kind, reason, count(*)::int, count(*) FILTER (WHERE since > now() - interval '24 h')::int AS new,
    jsonb_agg(jsonb_build_object('kind', kind, 'id', id, 'tenantReference', tenant_reference, 'reason', reason,
        'since', to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'whatToDo', what_to_do) ORDER BY since, id) FILTER (WHERE number <= 50) AS oldest
    FROM (SELECT *, row_number() OVER (PARTITION BY kind, reason ORDER BY since, id) AS number FROM admin.stuck) AS stuck
   GROUP BY kind, reason
   ORDER BY new DESC, count(*) DESC, kind, reason
   LIMIT 200`;

/** Lists what is stuck, the oldest first. Reads every open session, unless the filter names one. */
export const listStuck = (sql: Sql, { limit, cursor, kind, id }: StuckQuery) =>
  selectPage<StuckView>(sql, SELECT_STUCK, 'since, id', limit, [
    ['kind = ?', kind],
    ['id = ?::uuid', id],
    ['(since, id) > (?, ?::uuid)', cursor?.at, cursor?.id],
  ]);

/** Returns what is stuck by kind and reason: first the groups with the most new items, of these the largest. */
export const groupStuck = (sql: Sql) => sql.query<StuckGroupView>(GROUP);

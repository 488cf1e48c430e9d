import { START_STATUSES } from '../onboarding/rules/start-failure.rules.js';
import * as by from '../platform/list/filters.js';
import { List } from '../platform/list/list.js';
import type { StoredStall } from '../stalls/stall-views.service.js';
import { stallOf } from '../stalls/stalls.sql.js';
import type { StartView } from './start.view.js';

export const SELECT_START = `
    SELECT t.id, t.grid_location_id AS "gridLocationId", g.user_id AS "userId", u.tenant_reference AS "tenantReference", t.brand, t.status,
           t.last_error AS error, t.attempts, t.orphans, t.session_id AS "sessionId", t.created_at AS "createdAt",
           t.updated_at AS "updatedAt", ${stallOf('start', 't.id')} AS stalled
      FROM session_starts t
      JOIN grid_locations g ON g.id = t.grid_location_id
      JOIN users u ON u.id = g.user_id`;

export const STARTS = new List({
  name: 'starts',
  select: SELECT_START,
  order: { createdAt: ['t.created_at', 'instant'], id: ['t.id', 'uuid'] },
  descending: true,
  filters: {
    gridLocationId: by.uuid('t.grid_location_id'),
    userId: by.uuid('g.user_id'),
    status: by.choice('t.status', START_STATUSES, 'Only starts in this status'),
  },
});

export class StartsQuery extends STARTS.Query {}

export interface StartRow extends Omit<StartView, 'object' | 'stalled'> {
  readonly stalled: StoredStall | null;
}

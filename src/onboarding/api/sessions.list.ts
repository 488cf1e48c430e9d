import { normaliseBrand } from '../../platform/spelling.rules.js';
import { SESSION_STATES } from '../../events/event-schemas.rules.js';
import * as by from '../../platform/list/filters.js';
import { List } from '../../platform/list/list.js';
import { stalledFilter } from '../../stalls/stalled.filter.js';
import { metadataFilter } from '../../users/metadata.dto.js';
import { ReferenceOfCustomer } from '../../users/tenant-reference.dto.js';
import { SESSION_CAUSES } from '../stalls/session.causes.rules.js';
import { selectSessions } from '../store/sessions.sql.js';

export const SESSIONS = new List({
  name: 'sessions',
  select: selectSessions,
  order: { changedAt: ['s.changed_at', 'instant'], id: ['s.id', 'uuid'] },
  filters: {
    state: by.choice('s.state', SESSION_STATES),
    userId: by.uuid('s.user_id'),
    gridLocationId: by.uuid('s.grid_location_id'),
    tenantReference: by.parameter<string>(
      ReferenceOfCustomer(),
      's.user_id = (SELECT id FROM users WHERE tenant_reference = ?)',
    ),
    brand: by.text('s.brand = ?', { read: normaliseBrand }),
    updatedSince: by.since('s.changed_at', 'Sessions whose record changed at or after this instant'),
    createdSince: by.since(
      's.created_at',
      'Sessions that were started at or after this instant, by their `createdAt`',
    ),
    startedBefore: by.before(
      's.created_at',
      'Sessions that were started before this instant, by their `createdAt`',
    ),
    expiresBefore: by.before(
      's.expires_at',
      'Sessions whose `expiresAt` is before this instant, whatever their state',
    ),
    stalled: stalledFilter(
      'session',
      's.id',
      SESSION_CAUSES,
      'Sessions that are stalled for this cause, or for any',
    ),
    metadata: metadataFilter('s.metadata'),
  },
});

export class SessionsQuery extends SESSIONS.Query {}

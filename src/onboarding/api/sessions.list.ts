import { normaliseBrand, brandFault } from '../../platform/spelling.rules.js';
import { applyDecorators } from '@nestjs/common';
import { SESSION_STATES } from '../../events/event-schemas.rules.js';
import { OptionalText } from '../../platform/http/parameters.js';
import { ReadText } from '../../platform/http/validation.js';
import * as by from '../../platform/list/filters.js';
import { List } from '../../platform/list/list.js';
import { stalledFilter } from '../../stalls/stalled.filter.js';
import { stallOf } from '../../stalls/stalls.sql.js';
import { metadataFilter } from '../../users/metadata.dto.js';
import { ReferenceOfCustomer } from '../../users/tenant-reference.dto.js';
import { START_STATUSES } from '../rules/start-failure.rules.js';
import { SESSION_CAUSES } from '../stalls/session.causes.rules.js';
import { SELECT_SESSION } from '../store/sessions.sql.js';

const Brand = applyDecorators(ReadText(normaliseBrand), OptionalText(brandFault));

export const SESSIONS = new List({
  name: 'sessions',
  select: SELECT_SESSION,
  order: { changedAt: ['s.changed_at', 'instant'], id: ['s.id', 'uuid'] },
  filters: {
    state: by.choice('s.state', SESSION_STATES),
    userId: by.uuid('s.user_id'),
    gridLocationId: by.uuid('s.grid_location_id'),
    tenantReference: by.parameter<string>(ReferenceOfCustomer(), 'u.tenant_reference = ?'),
    brand: by.parameter<string>(Brand, 's.brand = ?'),
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

export const STARTS = new List({
  name: 'starts',
  select: `
    SELECT t.id, t.grid_location_id AS "gridLocationId", g.user_id AS "userId", u.tenant_reference AS "tenantReference", t.brand, t.status,
           t.last_error AS error, t.attempts, t.orphans, t.session_id AS "sessionId", t.created_at AS "createdAt",
           t.updated_at AS "updatedAt", ${stallOf('start', 't.id')} AS stalled
      FROM session_starts t
      JOIN grid_locations g ON g.id = t.grid_location_id
      JOIN users u ON u.id = g.user_id`,
  order: { createdAt: ['t.created_at', 'instant'], id: ['t.id', 'uuid'] },
  descending: true,
  filters: {
    gridLocationId: by.uuid('t.grid_location_id'),
    userId: by.uuid('g.user_id'),
    status: by.choice('t.status', START_STATUSES, 'Only starts in this status'),
  },
});

export class StartsQuery extends STARTS.Query {}

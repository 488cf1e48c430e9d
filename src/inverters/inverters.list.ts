import { INVERTER } from '../onboarding/api/sessions.view.js';
import { JOIN_POLL, LAST_SEEN_AT } from '../onboarding/store/sessions.sql.js';
import * as by from '../platform/list/filters.js';
import { List } from '../platform/list/list.js';
import * as schema from '../platform/openapi/schema-of.js';

export const SELECT_INVERTER = `
    SELECT i.id, i.session_id AS "sessionId", s.user_id AS "userId", s.grid_location_id AS "gridLocationId", s.brand,
           i.first_seen_at AS "firstSeenAt", i.missing_since AS "missingSince", ${LAST_SEEN_AT} AS "lastSeenAt"
      FROM inverters i
      JOIN onboarding_sessions s ON s.id = i.session_id ${JOIN_POLL}`;

export const INVERTERS = new List({
  name: 'inverters',
  select: SELECT_INVERTER,
  // Includes the session id, since two users may have the same inverter.
  order: {
    firstSeenAt: ['i.first_seen_at', 'instant'],
    id: ['i.id', 'uuid'],
    sessionId: ['i.session_id', 'uuid'],
  },
  descending: true,
  filters: { userId: by.uuid('s.user_id'), gridLocationId: by.uuid('s.grid_location_id') },
});

export class InvertersQuery extends INVERTERS.Query {}

export class InverterView extends schema.resourceOf('inverter', {
  ...INVERTER,
  sessionId: schema.uuid('The session that lists it, or listed it last'),
  userId: schema.uuid(),
  gridLocationId: schema.uuid(),
  brand: schema.nullable(schema.text()),
}) {}

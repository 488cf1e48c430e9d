import { ChoiceParameter } from '../platform/http/parameters.js';
import * as by from '../platform/list/filters.js';
import { List, type Condition } from '../platform/list/list.js';
import { normaliseBrand } from '../platform/spelling.rules.js';
import { WAITS_FOR, type WaitsFor } from '../stalls/cause.rules.js';
import { causeFault } from '../stalls/stalled.filter.js';
import { OF_CAUSE } from '../stalls/stalls.sql.js';
import { LIVE } from '../users/registration/registrations.sql.js';

/** The decisive registration `r` of each reference, as `findRegistrations` chooses it: the live one, else the newest. */
const IS_DECISIVE = `(r.${LIVE} OR NOT EXISTS (
       SELECT FROM registrations n
        WHERE n.tenant_reference = r.tenant_reference AND (n.${LIVE} OR (n.created_at, r.id) > (r.created_at, n.id))))`;

/** All customers, the newest first, by their registrations: one without a user is a customer as well, and an erased one has none. */
export const CUSTOMERS = new List({
  name: 'customers',
  select: `
    SELECT r.tenant_reference AS "tenantReference", r.created_at AS at, r.id FROM registrations r`,
  where: IS_DECISIVE,
  order: { at: ['r.created_at', 'instant'], id: ['r.id', 'uuid'] },
  descending: true,
  filters: {
    // These two lead to STALLED_CUSTOMERS.
    waitsFor: by.parameter<WaitsFor>(
      ChoiceParameter(
        WAITS_FOR,
        'Only customers of whom something is stalled and waits for these, the longest stalled first',
      ),
      () => [],
    ),
    cause: by.text('true', {
      description: 'Only customers of whom something is stalled for this cause, the longest stalled first',
      faultOf: causeFault,
    }),
    campaignId: by.uuid('r.campaign_id', 'Only customers of this campaign'),
    brand: by.text('r.user_id IN (SELECT s.user_id FROM onboarding_sessions s WHERE s.brand = ?)', {
      description:
        'Only customers with a session of this brand; with `waitsFor` or `cause`, of whom something of this brand is stalled',
      read: normaliseBrand,
    }),
  },
});

export class CustomersQuery extends CUSTOMERS.Query {}

const STALLED_AS = {
  waitsFor: 'w.waits_for = ?',
  cause: 'w.cause = ?',
  campaignId: 'x.campaign_id = ?',
  brand: 'x.brand = ?',
} as const;

const { waitsFor, cause, campaignId, brand } = CUSTOMERS.filters;

/** Customers of whom something is stalled, the longest stalled first. All filters are about the same stall `x`, with its cause `w`. */
// As in `selectStalls`, the first stalls of each cause come from one index, whatever the filter. Rejected: a filter of CUSTOMERS. Its order is
// by age, so it would read all customers who are too new to be stalled before it found the first one.
export const STALLED_CUSTOMERS = new List({
  name: 'customers',
  select: (page, order) => `
    SELECT x.tenant_reference AS "tenantReference", x.since AS at, x.subject AS id
      FROM stall_causes w CROSS JOIN LATERAL (SELECT x.* FROM stalls x ${page}) x ${order}`,
  where: `${OF_CAUSE} AND x.tenant_reference IS NOT NULL`,
  order: { at: ['x.since', 'instant'], id: ['x.subject', 'uuid'] },
  filters: {
    waitsFor: by.parameter<WaitsFor>(waitsFor.parameter, STALLED_AS.waitsFor),
    cause: by.parameter<string>(cause.parameter, STALLED_AS.cause),
    campaignId: by.parameter<string>(campaignId.parameter, STALLED_AS.campaignId),
    brand: by.parameter<string>(brand.parameter, STALLED_AS.brand),
  },
});

/** Returns the condition that stall `x` is the customer's first of those that the filters select. */
export function isFirstOfCustomer(query: CustomersQuery): Condition {
  const given = (Object.keys(STALLED_AS) as (keyof typeof STALLED_AS)[]).filter(
    (name) => query[name] !== undefined,
  );
  const conditions = given.map(
    (name) => ` AND ${STALLED_AS[name].replace('w.', 'cause.').replace('x.', 'earlier.')}`,
  );
  return [
    `NOT EXISTS (SELECT FROM stalls earlier JOIN stall_causes cause ON cause.kind = earlier.kind AND cause.cause = earlier.cause
       WHERE earlier.tenant_reference = x.tenant_reference AND (earlier.since, earlier.subject) < (x.since, x.subject)${conditions.join('')})`,
    ...given.map((name) => query[name]),
  ];
}

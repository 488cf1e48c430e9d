import { normaliseBrand, normaliseReference } from '../platform/spelling.rules.js';
import * as by from '../platform/list/filters.js';
import { List } from '../platform/list/list.js';
import { STALL_KINDS, WAITS_FOR } from '../stalls/cause.rules.js';
import { causeFault } from '../stalls/stalled.filter.js';
import { OF_CAUSE } from '../stalls/stalls.sql.js';
import { selectStalls } from './stalled.sql.js';

export const STALLED = new List({
  name: 'stalled',
  select: selectStalls,
  where: OF_CAUSE,
  order: { since: ['x.since', 'instant'], id: ['x.subject', 'uuid'] },
  filters: {
    kind: by.choice('w.kind', STALL_KINDS, 'Only this kind'),
    cause: by.text('w.cause = ?', { description: 'Only this cause, of any kind', faultOf: causeFault }),
    waitsFor: by.choice('w.waits_for', WAITS_FOR, 'Only what waits for these'),
    campaignId: by.uuid('x.campaign_id', 'Only customers of this campaign'),
    brand: by.text('x.brand = ?', { description: 'Only this brand', read: normaliseBrand }),
    gridLocationId: by.uuid('x.grid_location_id', 'Only this grid location'),
    tenantReference: by.text('x.tenant_reference = ?', {
      description: 'Only the customer with this reference',
      read: normaliseReference,
    }),
    since: by.since('x.since', 'Only trouble that began at or after this instant'),
  },
});

export class StalledQuery extends STALLED.Query {}

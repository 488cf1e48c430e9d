import { normaliseBrand, normaliseReference } from '../platform/spelling.rules.js';
import { ChoiceParameter } from '../platform/http/parameters.js';
import * as by from '../platform/list/filters.js';
import { List, type Filter } from '../platform/list/list.js';
import { STALL_KINDS, WAITS_FOR, type StallKind } from './cause.rules.js';
import { OF_CAUSE, selectStalls } from './stalls.sql.js';

export const causeFault = (value: unknown) =>
  typeof value === 'string' && /^[a-z_]{1,60}$/.test(value)
    ? undefined
    : 'must be a cause, such as never_opened';

export const STALLED = new List({
  name: 'stalled',
  select: selectStalls,
  where: OF_CAUSE,
  order: { since: ['x.since', 'instant'], id: ['x.subject', 'uuid'] },
  filters: {
    kind: by.choice('w.kind', STALL_KINDS, 'Only this kind'),
    cause: by.text('w.cause = ?', { description: 'Only this cause, of any kind' }, causeFault),
    waitsFor: by.choice('w.waits_for', WAITS_FOR, 'Only what waits for these'),
    campaignId: by.uuid('x.campaign_id', 'Only customers of this campaign'),
    brand: by.text('x.brand = ?', { description: 'Only this brand' }, undefined, normaliseBrand),
    gridLocationId: by.uuid('x.grid_location_id', 'Only this grid location'),
    tenantReference: by.text(
      'x.tenant_reference = ?',
      { description: 'Only the customer with this reference' },
      undefined,
      normaliseReference,
    ),
    since: by.since('x.since', 'Only trouble that began at or after this instant'),
  },
});

export class StalledQuery extends STALLED.Query {}

/** The filter `stalled` of the list of a kind, whose column `id` is the subject. */
export const stalledFilter = <Cause extends string>(
  kind: StallKind,
  id: string,
  causes: Readonly<Record<Cause, unknown>>,
  description: string,
): Filter<Cause | 'any'> => {
  const isOf = `${id} IN (SELECT x.subject FROM stalls x WHERE x.kind = '${kind}'`;
  return by.parameter(ChoiceParameter([...Object.keys(causes), 'any'], description), (cause) => [
    cause === 'any' ? [`${isOf})`] : [`${isOf} AND x.cause = ?)`, cause],
  ]);
};

import type { FieldError } from '../../../platform/problem/problem.js';
import { refuse } from '../../../platform/http/validation.js';
import { eventNamesOf, typeErrors } from '../endpoints/endpoint-input.js';
import type { RedeliveryRange } from './redelivery.store.js';

interface Asked {
  readonly deliveryIds?: readonly string[];
  readonly after?: string;
  readonly until?: string;
  readonly types?: readonly string[];
  readonly onlyFailed?: boolean;
}

export type RedeliveryPlan =
  | { readonly kind: 'these'; readonly deliveryIds: readonly string[] }
  | { readonly kind: 'range'; readonly range: RedeliveryRange };

/** Returns what the request selects: single deliveries or a range. Throws Problem invalid_request. */
export function planRedelivery({ deliveryIds, ...range }: Asked): RedeliveryPlan {
  if (deliveryIds !== undefined) {
    refuse(besideDeliveries(range));
    // PostgreSQL returns UUIDs in lower case.
    return { kind: 'these', deliveryIds: deliveryIds.map((id) => id.toLowerCase()) };
  }
  refuse(rangeErrors(range));
  const { after = '0', until, types = [], onlyFailed = false } = range;
  return {
    kind: 'range',
    range: { after, ...(until !== undefined && { until }), types: eventNamesOf(types), onlyFailed },
  };
}

type AskedRange = Omit<Asked, 'deliveryIds'>;

const besideDeliveries = (others: AskedRange): FieldError[] =>
  Object.entries(others).flatMap(([field, value]) =>
    value === undefined ? [] : [{ field, message: 'must not be given together with deliveryIds' }],
  );

function rangeErrors({ after, until, types = [] }: AskedRange): FieldError[] {
  const errors = typeErrors(types);
  if (after === undefined)
    errors.push({ field: 'after', message: 'is required where there are no deliveryIds' });
  else if (until !== undefined && BigInt(until) <= BigInt(after))
    errors.push({ field: 'until', message: 'must be greater than after' });
  return errors;
}

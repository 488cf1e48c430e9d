import { ChoiceParameter } from '../platform/http/parameters.js';
import * as by from '../platform/list/filters.js';
import type { Filter } from '../platform/list/list.js';
import type { StallKind } from './cause.rules.js';

export const causeFault = (value: unknown) =>
  typeof value === 'string' && /^[a-z_]{1,60}$/.test(value)
    ? undefined
    : 'must be a cause, such as never_opened';

/** The filter `stalled` of the list of a kind, whose column `id` is the subject. */
export const stalledFilter = <Cause extends string>(
  kind: StallKind,
  id: string,
  causes: Readonly<Record<Cause, unknown>>,
  description: string,
): Filter<Cause | 'any'> => {
  const stalled = `SELECT x.subject FROM stalls x WHERE x.kind = '${kind}'`;
  // The array makes PostgreSQL start from the stalls of the cause, not read half of a million sessions in the order of the list.
  return by.parameter(ChoiceParameter([...Object.keys(causes), 'any'], description), (cause) => [
    cause === 'any' ? [`${id} IN (${stalled})`] : [`${id} = ANY (ARRAY(${stalled} AND x.cause = ?))`, cause],
  ]);
};

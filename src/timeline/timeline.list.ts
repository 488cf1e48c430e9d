import { List } from '../platform/list/list.js';
import * as schema from '../platform/openapi/schema-of.js';

/** A cursor has no finer times than milliseconds. */
const ENTRY_AT = `date_trunc('milliseconds', at)`;

export const TIMELINE = new List({
  name: 'timeline',
  select: `SELECT ${ENTRY_AT} AS at, step, number, kind, summary, details FROM admin.session_timeline`,
  // `step` and `number` order the entries of the same millisecond.
  order: { at: [ENTRY_AT, 'instant'], step: ['step', 'integer'], number: ['number', 'integer'] },
  filters: {},
});

export class TimelineQuery extends TIMELINE.Query {}

const ENTRY_KINDS = ['start', 'observation', 'transition', 'superseded', 'closed', 'event'] as const;

export class TimelineEntryView extends schema.resourceOf('timeline_entry', {
  at: schema.instant('When it happened in our database'),
  kind: schema.oneOf(
    ENTRY_KINDS,
    'An `observation` is a response of the remote service that differed from the one before. Reads that failed or brought nothing new are no entries.',
  ),
  summary: schema.text('What happened, in words'),
  details: schema.object<object>('The same as fields'),
}) {}

import { CursorOf, LimitQuery } from '../../platform/http/page.js';
import * as schema from '../../platform/openapi/schema-of.js';

const KINDS = ['start', 'observation', 'transition', 'superseded', 'closed', 'event'] as const;

export class TimelineEntryView extends schema.schemaOf({
  at: schema.instant('When it happened in our database'),
  kind: schema.oneOf(
    KINDS,
    'An `observation` is a response of the remote service that differed from the one before. Reads that failed or brought nothing new are no entries.',
  ),
  summary: schema.text('What happened, in words'),
  details: schema.object<object>('The same as fields'),
}) {}

/** The position of an entry. `step` and `number` order the entries of the same millisecond. */
export interface TimelinePosition {
  readonly at: Date;
  readonly step: string;
  readonly number: string;
}

export class TimelineQuery extends LimitQuery {
  @CursorOf({ at: 'instant', step: 'integer', number: 'integer' })
  cursor?: TimelinePosition;
}

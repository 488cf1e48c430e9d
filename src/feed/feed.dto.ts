import { applyDecorators } from '@nestjs/common';
import { formatSequence, typesFault, type CloudEvent } from '../events/cloud-event.js';
import { SequenceParameter } from '../events/sequence.dto.js';
import { Field } from '../platform/http/field.js';
import { LimitQuery } from '../platform/http/page.js';
import { UuidParameter } from '../platform/http/parameters.js';
import { ReadText, refuse } from '../platform/http/validation.js';
import { field, schemaOf, text } from '../platform/openapi/schema-of.js';
import type { EventLoss } from './events.store.js';

/** Declares an optional list of event types, separated by commas. */
export const TypesParameter = (): PropertyDecorator =>
  applyDecorators(
    ReadText((types) => types.split(',').map((type) => type.trim())),
    Field({
      description:
        'Only events of these types, separated by commas: `session.online` or `pv.session.online.v1`. Default: all',
      example: 'session.online,inverter.online',
      type: String,
      faultOf: typesFault,
    }),
  );

/** Declares an optional session id. Converts it to lower case, in which subjects are stored. */
export const SessionIdParameter = (): PropertyDecorator =>
  applyDecorators(
    UuidParameter('Only events about this session'),
    ReadText((id) => id.toLowerCase()),
  );

export class FeedQuery extends LimitQuery {
  @SequenceParameter(
    'The `next` of the previous page, or the `sequence` of an event. Default: the beginning of the feed',
    '0',
  )
  after: string = '0';

  @TypesParameter()
  types?: string[];

  @SessionIdParameter()
  sessionId?: string;
}

export class FeedView extends schemaOf({
  items: field<readonly CloudEvent[]>({ type: 'array', items: { $ref: '#/components/schemas/FeedEvent' } }),
  next: text(
    'The `after` of the next request, always present. Skips events that were filtered out; unchanged if there are no new events',
  ),
}) {}

/**
 * Throws Problem invalid_request if the feed does not have this position: a reader would miss the events of `loss`, or if the position lies
 * beyond the newest event, those up to it.
 */
export function refuseUnknownPosition(
  field: string,
  position: string,
  newest: string,
  loss: EventLoss | null,
): void {
  if (loss !== null) {
    const last = formatSequence(loss.last);
    const message = {
      restored: `belongs to an event that was lost when a backup was restored: continue after ${last}, and undo what later events changed`,
      deleted: `lies before events that retention has deleted: continue after ${last}, and read anew what you have from events`,
    }[loss.reason];
    refuse([{ field, message }]);
  }
  if (BigInt(position) <= BigInt(newest)) return;
  refuse([{ field, message: `lies beyond the newest event, whose sequence is ${formatSequence(newest)}` }]);
}

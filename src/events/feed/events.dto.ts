import { applyDecorators } from '@nestjs/common';
import { Field } from '../../platform/http/field.js';
import { LimitQuery } from '../../platform/http/page.js';
import { UuidParameter } from '../../platform/http/parameters.js';
import { ReadText, refuse } from '../../platform/http/validation.js';
import { field, nullable, schemaOf, text } from '../../platform/openapi/schema-of.js';
import { EVENT_NAMES } from '../catalogue.rules.js';
import { EVENT_TYPES, formatSequence, type CloudEvent } from '../cloud-event.js';

/** A feed position in a parameter or header, with or without leading zeros. */
export const SEQUENCE = /^0?[0-9]{1,18}$/;

/** Declares an optional feed position. `byDefault` is only the documented default: initialise the property with the same value. */
export const SequenceParameter = (description: string, byDefault?: string): PropertyDecorator =>
  Field({
    type: String,
    description,
    pattern: SEQUENCE.source,
    ...(byDefault !== undefined && { default: byDefault }),
    faultOf: sequenceFault,
  });

const sequenceFault = (value: unknown): string | undefined =>
  typeof value === 'string' && SEQUENCE.test(value)
    ? undefined
    : 'must be a `sequence` or `next` of this feed: a number of at most 19 digits';

/** Returns what is wrong with a list of event types, or undefined. */
export function typesFault(value: unknown): string | undefined {
  const unknown = Array.isArray(value)
    ? value.filter((type) => !EVENT_TYPES.includes(type as string))
    : [value];
  if (unknown.length === 0) return undefined;
  const name = /^[\w.]{1,60}$/.exec(String(unknown[0]))?.[0];
  return `must list event types${name === undefined ? '' : `, and ${name} is not one`}: ${EVENT_NAMES.join(', ')}`;
}

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

export const sequence = (description: string) =>
  field<string>({ type: String, pattern: '^[0-9]{19}$' }, description);

/** The field `sequence` of a session or registration. */
export const LAST_SEQUENCE = nullable(
  sequence(
    'The `sequence` of the last event about it; null if there is none. The response contains all changes up to that event. An event gets ' +
      'its sequence just after its change is committed: a read in between may have the sequence of the previous event',
  ),
);

export class FeedView extends schemaOf({
  items: field<readonly CloudEvent[]>({ type: 'array', items: { $ref: '#/components/schemas/FeedEvent' } }),
  next: text(
    'The `after` of the next request, always present. Skips events that were filtered out; unchanged if there are no new events',
  ),
}) {}

/**
 * Throws Problem invalid_request if the feed does not have this position. If its event was lost when a backup was restored, `loss` is the
 * last sequence before the lost events. If the position lies beyond the newest event, the reader would miss the events up to it.
 */
export function refuseUnknownPosition(
  field: string,
  position: string,
  newest: string,
  loss: bigint | null,
): void {
  if (loss !== null) {
    const last = formatSequence(loss);
    const message = `belongs to an event that was lost when a backup was restored: continue after ${last}, and undo what later events changed`;
    refuse([{ field, message }]);
  }
  if (BigInt(position) <= BigInt(newest)) return;
  refuse([{ field, message: `lies beyond the newest event, whose sequence is ${formatSequence(newest)}` }]);
}

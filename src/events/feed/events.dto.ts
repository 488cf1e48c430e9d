import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsOptional, IsString, Matches } from 'class-validator';
import { LimitQuery } from '../../platform/http/page.js';
import { UuidParameter } from '../../platform/http/parameters.js';
import { MayBeAbsent, refuse } from '../../platform/http/validation.js';
import {
  field,
  listOf,
  nullable,
  oneOf,
  optional,
  schemaOf,
  text,
  uuid,
} from '../../platform/openapi/schema-of.js';
import { EVENT_NAMES, type EventName } from '../catalogue.rules.js';
import { findEventName, formatSequence, toEventType } from '../cloud-event.js';

/** A feed position in a parameter or header, with or without leading zeros. */
export const SEQUENCE = /^0?[0-9]{1,18}$/;

/** Declares an optional position in the feed. `byDefault`: as the document shows it; initialise the property with it too. */
export const SequenceParameter = (description: string, byDefault?: string): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      description,
      pattern: SEQUENCE.source,
      ...(byDefault !== undefined && { default: byDefault }),
      type: String,
    }),
    MayBeAbsent(),
    Matches(SEQUENCE, {
      message: '$property must be a `sequence` or `next` of this feed: a number of at most 19 digits',
    }),
  );

export const TypesParameter = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      description:
        'Only events of these types, separated by commas: `session.online` or `pv.session.online.v1`. Default: all',
      example: 'session.online,inverter.online',
      type: String,
    }),
    IsOptional(),
    IsString(),
  );

/** An optional session id, converted to the lower case in which subjects are stored. */
export const SessionIdParameter = (): PropertyDecorator =>
  applyDecorators(
    UuidParameter('Only events about this session'),
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.toLowerCase() : value)),
  );

export class FeedQuery extends LimitQuery {
  @SequenceParameter(
    'The `next` of the previous page, or the `sequence` of an event. Default: the beginning of the feed',
    '0',
  )
  after: string = '0';

  @TypesParameter()
  types?: string;

  @SessionIdParameter()
  sessionId?: string;
}

const SEQUENCE_SCHEMA = { type: String, pattern: '^[0-9]{19}$' };

/** The field `sequence` of a session or registration. */
export const LAST_SEQUENCE = nullable(
  field<string>(
    SEQUENCE_SCHEMA,
    'The `sequence` of the last event about it; null if there is none. The response contains all changes up to that event. An event gets ' +
      'its sequence just after its change is committed: until then, this is the sequence of the previous event',
  ),
);

const CloudEventView = schemaOf('CloudEventView', {
  specversion: oneOf(['1.0']),
  id: uuid('The same at every delivery'),
  source: field<string>({ type: String, format: 'uri-reference' }, '`EVENT_SOURCE` of the deployment'),
  type: oneOf(EVENT_NAMES.map(toEventType)),
  subject: text(
    'The id of the session, user, registration, erasure or webhook endpoint, or the class of remote operations. Events of one subject are in order',
  ),
  time: field<string>({ type: String, format: 'date-time' }),
  datacontenttype: oneOf(['application/json']),
  sequence: field<string>(SEQUENCE_SCHEMA, 'Position in the feed; sorts as text in feed order'),
  traceparent: optional(
    field<string>(
      { type: String, pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$' },
      'The [trace](https://www.w3.org/TR/trace-context/) in which the event happened, if traces are exported',
    ),
  ),
  data: field<object>(
    { type: 'object', additionalProperties: true },
    'The facts of the event; `type` determines its fields',
  ),
});

export const FeedView = schemaOf('FeedView', {
  items: listOf(CloudEventView),
  next: text(
    'The `after` of the next request, always present. Skips events that were filtered out; unchanged if there are no new events',
  ),
});
export type FeedView = InstanceType<typeof FeedView>;

/** Parses `session.online,pv.inverter.online.v1`; undefined means all types. Throws Problem invalid_request for an unknown type. */
export function readTypes(list: string | undefined): EventName[] | undefined {
  const texts = list?.split(',').map((text) => text.trim());
  const unknown = texts?.filter((text) => findEventName(text) === null) ?? [];
  if (unknown.length > 0) {
    const said = unknown.map((text) => JSON.stringify(text.slice(0, 100))).join(', ');
    const message = `must list event types; ${said} is not one of ${EVENT_NAMES.join(', ')}`;
    refuse([{ field: 'types', message }]);
  }
  return texts?.flatMap((text) => findEventName(text) ?? []);
}

/**
 * Throws Problem invalid_request if the feed does not have this position: its event was lost with a restore (`loss`), or it lies beyond the
 * newest event, so that the reader would miss events.
 */
export function refuseUnknownPosition(
  field: string,
  position: string,
  newest: string,
  loss: bigint | null,
): void {
  if (loss !== null) {
    const last = formatSequence(String(loss));
    const message = `belongs to an event that was lost when a backup was restored: continue after ${last}, and undo what later events changed`;
    refuse([{ field, message }]);
  }
  if (BigInt(position) <= BigInt(newest)) return;
  refuse([{ field, message: `lies beyond the newest event, whose sequence is ${formatSequence(newest)}` }]);
}

import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsOptional, IsString, IsUUID, Matches } from 'class-validator';
import { IntegerParameter } from '../../platform/http/validation.js';
import { EVENT_NAMES } from '../catalogue.rules.js';
import { toEventType } from '../cloud-event.js';
import { SEQUENCE } from './parameters.js';

/** A session id, converted to the lower case in which subjects are stored. */
export const SessionIdParameter = (): PropertyDecorator =>
  applyDecorators(
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.toLowerCase() : value)),
    IsOptional(),
    IsUUID('loose'),
  );

export class FeedQuery {
  @ApiPropertyOptional({
    description:
      'The `next` of the previous page, or the `sequence` of an event. Default: the beginning of the feed',
    pattern: SEQUENCE.source,
    default: '0',
    type: String,
  })
  @Matches(SEQUENCE, {
    message: 'after must be the `next` of a page of this feed: a number of at most 19 digits',
  })
  after: string = '0';

  @ApiPropertyOptional({
    description:
      'Only events of these types, separated by commas: `session.online` or `pv.session.online.v1`. `next` skips the others',
    example: 'session.online,inverter.online',
    type: String,
  })
  @IsOptional()
  @IsString()
  types?: string;

  @ApiPropertyOptional({
    description: 'Only events about this session. `next` skips the others',
    format: 'uuid',
  })
  @SessionIdParameter()
  sessionId?: string;

  @ApiPropertyOptional({
    description: 'Maximum number of items',
    minimum: 1,
    maximum: 200,
    default: 50,
    type: 'integer',
  })
  @IntegerParameter({ min: 1, max: 200 })
  limit: number = 50;
}

export class CloudEventView {
  @ApiProperty({ enum: ['1.0'] })
  specversion: string;

  @ApiProperty({ format: 'uuid', description: 'The same at every delivery' })
  id: string;

  @ApiProperty({ format: 'uri-reference', description: '`EVENT_SOURCE` of the deployment' })
  source: string;

  @ApiProperty({ enum: EVENT_NAMES.map(toEventType) })
  type: string;

  @ApiProperty({
    description:
      'The id of the session, user, registration, erasure or webhook endpoint, or the class of remote operations. Events of one subject are in order',
  })
  subject: string;

  @ApiProperty({ format: 'date-time' })
  time: string;

  @ApiProperty({ enum: ['application/json'] })
  datacontenttype: string;

  @ApiProperty({
    description: 'Position in the feed; sorts as text in feed order',
    pattern: '^[0-9]{19}$',
  })
  sequence: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'The facts of the event; `type` determines its fields',
  })
  data: object;
}

export class FeedView {
  @ApiProperty({ type: [CloudEventView] })
  items: CloudEventView[];

  @ApiProperty({
    description: 'The `after` of the next request, always present. Unchanged if there are no new events',
  })
  next: string;
}

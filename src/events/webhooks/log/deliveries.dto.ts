import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsOptional,
  IsString,
  IsUUID,
  Length,
  Matches,
} from 'class-validator';
import { MayBeAbsent } from '../../../platform/http/may-be-absent.decorator.js';
import { PageQuery } from '../../../platform/http/page.js';
import { InstantParameter } from '../../../platform/http/validation.js';
import { EVENT_NAMES } from '../../catalogue.rules.js';
import { toEventType } from '../../cloud-event.js';
import { SEQUENCE } from '../../feed/parameters.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from './deliveries.store.js';

/** One page of the list. */
const MAX_IDS = 200;
const BE_A_SEQUENCE = 'must be the sequence of an event: a text of at most 19 digits';

export class ListDeliveriesQuery extends PageQuery {
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID('loose')
  endpointId?: string;

  @ApiPropertyOptional({ enum: DELIVERY_STATUSES })
  @IsOptional()
  @IsIn(DELIVERY_STATUSES)
  status?: DeliveryStatus;

  @ApiPropertyOptional({ format: 'uuid', description: 'The `id` of the event, which is the `webhook-id`' })
  @IsOptional()
  @IsUUID('loose')
  eventId?: string;

  @ApiPropertyOptional({
    description: 'Only events about this subject, such as the id of a session or user',
    maxLength: 200,
  })
  @IsOptional()
  @Length(1, 200)
  subject?: string;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    description: 'Only deliveries created at or after this instant',
  })
  @InstantParameter()
  since?: Date;
}

export class WebhookDeliveryView {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ format: 'uuid' })
  endpointId: string;

  @ApiProperty({ format: 'uuid', description: 'Sent as `webhook-id`, the same at every attempt' })
  eventId: string;

  @ApiProperty({ enum: EVENT_NAMES.map(toEventType) })
  type: string;

  @ApiProperty({ description: 'Position of the event in the feed', pattern: '^[0-9]{19}$' })
  sequence: string;

  @ApiProperty({
    description:
      'The subject of the event. An endpoint receives the events of one subject one at a time, in order',
  })
  subject: string;

  @ApiProperty({
    enum: DELIVERY_STATUSES,
    description:
      'pending: to be sent or retried; delivered: the endpoint responded with 2xx; failed: given up after the whole retry schedule, or skipped',
  })
  status: DeliveryStatus;

  @ApiProperty({ type: 'integer', description: 'Attempts since its creation or last redelivery request' })
  attempts: number;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description:
      'Earliest time of the next attempt, which also waits for earlier events of the subject. null unless pending',
  })
  nextAttemptAt: Date | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  lastAttemptAt: Date | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'HTTP status of the last response; null if there was none',
  })
  lastStatus: number | null;

  @ApiProperty({ type: String, nullable: true, description: 'Why the last attempt failed' })
  lastError: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'The first kilobyte of the body of the last response; null if there was none, and after an erasure',
  })
  lastAnswer: string | null;

  @ApiProperty({ format: 'date-time' })
  createdAt: Date;
}

export class RedeliveryRequest {
  @ApiPropertyOptional({
    type: [String],
    format: 'uuid',
    minItems: 1,
    maxItems: MAX_IDS,
    description: 'Only these deliveries. Either this or `after` is required',
  })
  @MayBeAbsent()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayUnique()
  @ArrayMaxSize(MAX_IDS)
  @IsUUID('loose', { each: true, message: 'deliveryIds must be a list of UUIDs' })
  deliveryIds?: string[];

  @ApiPropertyOptional({
    pattern: SEQUENCE.source,
    description:
      'Every event after this `sequence` that matches the types of the endpoint, whether delivered before or not; `0` for all',
  })
  @MayBeAbsent()
  @Matches(SEQUENCE, { message: `after ${BE_A_SEQUENCE}` })
  after?: string;

  @ApiPropertyOptional({
    pattern: SEQUENCE.source,
    description:
      'With `after`: up to and including this `sequence`. Default: the position of the endpoint in the feed',
  })
  @MayBeAbsent()
  @Matches(SEQUENCE, { message: `until ${BE_A_SEQUENCE}` })
  until?: string;

  @ApiPropertyOptional({
    type: [String],
    maxItems: 2 * EVENT_NAMES.length,
    description: 'With `after`: only these of the types of the endpoint',
  })
  @MayBeAbsent()
  @IsArray()
  @ArrayMaxSize(2 * EVENT_NAMES.length)
  @IsString({ each: true, message: 'types must be a list of texts' })
  types?: string[];

  @ApiPropertyOptional({ default: false, description: 'With `after`: only failed deliveries' })
  @MayBeAbsent()
  @IsBoolean()
  onlyFailed?: boolean;
}

export class RedeliveryView {
  @ApiProperty({ type: 'integer', description: 'How many events are now pending' })
  redelivered: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'null if the range is done. Otherwise the range was too long for one request; send the rest with this as `after`',
  })
  next: string | null;
}

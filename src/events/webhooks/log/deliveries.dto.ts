import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsOptional,
  IsUUID,
  Length,
  Matches,
} from 'class-validator';
import { MayBeAbsent } from '../../../platform/http/validation.js';
import {
  count,
  field,
  instant,
  nullable,
  oneOf,
  text,
  uuid,
  schemaOf,
} from '../../../platform/openapi/schema-of.js';
import { CursorOf, LimitQuery } from '../../../platform/http/page.js';
import { ChoiceParameter, InstantParameter, UuidParameter } from '../../../platform/http/parameters.js';
import { EVENT_NAMES, type EventName } from '../../catalogue.rules.js';
import { toEventType } from '../../cloud-event.js';
import { SEQUENCE } from '../../feed/events.dto.js';
import { TypesField } from '../endpoints/endpoints.dto.js';

const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;
const MAX_IDS = 200;

export class ListDeliveriesQuery extends LimitQuery {
  @CursorOf({ createdAt: 'instant', position: 'integer', endpointId: 'uuid' })
  cursor?: Pick<StoredDelivery, 'createdAt' | 'position' | 'endpointId'>;

  @UuidParameter()
  endpointId?: string;

  @ChoiceParameter(DELIVERY_STATUSES)
  status?: (typeof DELIVERY_STATUSES)[number];

  @UuidParameter('The `id` of the event, which is the `webhook-id`')
  eventId?: string;

  @ApiPropertyOptional({
    description: 'Only events about this subject, such as the id of a session or user',
    maxLength: 200,
  })
  @IsOptional()
  @Length(1, 200)
  subject?: string;

  @InstantParameter('Only deliveries created at or after this instant')
  since?: Date;
}

export const WebhookDeliveryView = schemaOf('WebhookDeliveryView', {
  id: uuid(),
  endpointId: uuid(),
  eventId: uuid('Sent as `webhook-id`, the same at every attempt'),
  type: oneOf(EVENT_NAMES.map(toEventType)),
  sequence: field<string>({ type: String, pattern: '^[0-9]{19}$' }, 'Position of the event in the feed'),
  subject: text(
    'The subject of the event. An endpoint receives the events of one subject one at a time, in order',
  ),
  status: oneOf(
    DELIVERY_STATUSES,
    'pending: to be sent or retried; delivered: the endpoint responded with 2xx; failed: given up after the whole retry schedule, or skipped',
  ),
  attempts: count('Attempts since its creation or last redelivery request'),
  nextAttemptAt: nullable(
    instant(
      'Time of the next attempt. null unless pending, and while an earlier event of the subject is pending',
    ),
  ),
  lastAttemptAt: nullable(instant()),
  lastStatus: nullable(count('HTTP status of the last response; null if there was none')),
  lastError: nullable(text('Why the last attempt failed')),
  lastAnswer: nullable(
    text('The first kilobyte of the body of the last response; null if there was none, and after an erasure'),
  ),
  createdAt: instant(),
});
export type WebhookDeliveryView = InstanceType<typeof WebhookDeliveryView>;

export type StoredDelivery = Omit<WebhookDeliveryView, 'type'> & {
  readonly name: EventName;
  readonly position: string;
};

const SequenceField = (description: string): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ pattern: SEQUENCE.source, description }),
    MayBeAbsent(),
    Matches(SEQUENCE, {
      message: '$property must be the sequence of an event: a text of at most 19 digits',
    }),
  );

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

  @SequenceField(
    'Every event after this `sequence` that matches the types of the endpoint, whether delivered before or not; `0` for all',
  )
  after?: string;

  @SequenceField(
    'With `after`: up to and including this `sequence`. Default: the position of the endpoint in the feed',
  )
  until?: string;

  @TypesField('With `after`: only these of the types of the endpoint')
  types?: string[];

  @ApiPropertyOptional({ description: 'With `after`: only failed deliveries. Default: false' })
  @MayBeAbsent()
  @IsBoolean()
  onlyFailed?: boolean;
}

export const RedeliveryView = schemaOf('RedeliveryView', {
  redelivered: count('How many events are now pending'),
  next: nullable(
    text(
      'null if the range is done. Otherwise the range was too long for one request; send the rest with this as `after`',
    ),
  ),
});
export type RedeliveryView = InstanceType<typeof RedeliveryView>;

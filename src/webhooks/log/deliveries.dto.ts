import { Field } from '../../platform/http/field.js';
import * as schema from '../../platform/openapi/schema-of.js';
import { OptionalFlag } from '../../platform/http/parameters.js';
import { EVENT_NAMES, type EventName } from '../../events/catalogue.rules.js';
import { toEventType } from '../../events/cloud-event.js';
import { sequence, SequenceParameter } from '../../events/sequence.dto.js';
import { TypesField } from '../endpoints/endpoints.dto.js';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;
const MAX_IDS = 200;

const DELIVERY = {
  id: schema.uuid(),
  endpointId: schema.uuid(),
  eventId: schema.uuid('Sent as `webhook-id`, the same at every attempt'),
  type: schema.oneOf(EVENT_NAMES.map(toEventType)),
  sequence: sequence('Position of the event in the feed'),
  subject: schema.text(
    'The subject of the event. An endpoint receives the events of one subject one at a time, in order',
  ),
  status: schema.oneOf(
    DELIVERY_STATUSES,
    'pending: to be sent or retried; delivered: the endpoint responded with 2xx; failed: given up after the whole retry schedule, or skipped',
  ),
  attempts: schema.count('Attempts since its creation or last redelivery request'),
  nextAttemptAt: schema.nullable(
    schema.instant(
      'Time of the next attempt. null unless pending, and while an earlier event of the subject is pending',
    ),
  ),
  lastAttemptAt: schema.nullable(schema.instant()),
  lastStatus: schema.nullable(schema.count('HTTP status of the last response; null if there was none')),
  lastError: schema.nullable(schema.text('Why the last attempt failed')),
  lastAnswer: schema.nullable(
    schema.text(
      'The first kilobyte of the body of the last response; null if there was none, and after an erasure',
    ),
  ),
  createdAt: schema.instant(),
};

export class WebhookDeliveryView extends schema.resourceOf('webhook_delivery', DELIVERY) {}

export class PreviousAttempt extends schema.schemaOf({
  attemptedAt: schema.instant(),
  status: schema.nullable(schema.count('HTTP status of the response; null if there was none')),
  error: schema.nullable(schema.text('Why the attempt failed')),
  answer: schema.nullable(schema.text('The first kilobyte of the body; null if there was none')),
}) {}

export class WebhookDeliveryDetailView extends schema.resourceOf('webhook_delivery', {
  ...DELIVERY,
  previousAttempts: schema.listOf(
    PreviousAttempt,
    'The attempts before the last one, the latest first, at most 20; also those before a redelivery request. Empty after an erasure',
  ),
}) {}

export type StoredDelivery = Omit<WebhookDeliveryView, 'object' | 'type'> & {
  readonly name: EventName;
  readonly position: string;
};

export class RedeliveryRequest {
  @Field({
    type: String,
    isArray: true,
    format: 'uuid',
    uniqueItems: true,
    minItems: 1,
    maxItems: MAX_IDS,
    description: 'Only these deliveries. Either this or `after` is required',
  })
  deliveryIds?: string[];

  @SequenceParameter(
    'Every event after this `sequence` that matches the types of the endpoint, whether delivered before or not; `0` for all',
  )
  after?: string;

  @SequenceParameter(
    'With `after`: up to and including this `sequence`. Default: the position of the endpoint in the feed',
  )
  until?: string;

  @TypesField('With `after`: only these of the types of the endpoint')
  types?: string[];

  @OptionalFlag('With `after`: only failed deliveries. Default: false')
  onlyFailed?: boolean;
}

export class RedeliveryView extends schema.resourceOf('webhook_redelivery', {
  redelivered: schema.count('How many events are now pending'),
  next: schema.nullable(
    schema.text(
      'null if the range is done. Otherwise the range was too long for one request; send the rest with this as `after`',
    ),
  ),
}) {}

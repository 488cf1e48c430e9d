import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsInt, IsObject, IsString, Max, MaxLength, Min } from 'class-validator';
import { STALLED_FIELD } from '../../stalls/stalled.view.js';
import * as schema from '../../platform/openapi/schema-of.js';
import { OptionalFlag } from '../../platform/http/parameters.js';
import { AsParsed, CheckedBy, MayBeAbsent } from '../../platform/http/validation.js';
import { EVENT_NAMES } from '../../events/catalogue.rules.js';
import { EVENT_TYPES, toEventType } from '../../events/cloud-event.js';
import { IsEventType } from '../../events/feed/events.dto.js';
import { webhookSecretFault } from '../secrets/secret.rules.js';
import { headersFault } from './endpoint-input.js';

const DAY_SECONDS = 86_400;
/** One week is enough to replace a secret. Until its overlap ends, a leaked secret stays valid. */
const MAX_OVERLAP_SECONDS = 7 * DAY_SECONDS;

const SECRET_FORM = 'Your own secret: `whsec_` and base64 of 24 to 64 bytes.';

const Secret = (description = `${SECRET_FORM} Default: 32 random bytes`): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      ...schema.SECRET,
      description,
      pattern: '^whsec_[A-Za-z0-9+/]+={0,2}$',
    }),
    MayBeAbsent(),
    CheckedBy(webhookSecretFault),
  );

/** Declares an optional list of event types. */
export const TypesField = (description: string): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      enum: EVENT_TYPES,
      enumName: 'WebhookEventType',
      enumSchema: { description: 'The type of an event, or its name' },
      isArray: true,
      maxItems: EVENT_TYPES.length,
      description,
    }),
    MayBeAbsent(),
    // The decorator applied last provides the error message, so the type checks come last.
    IsEventType(),
    ArrayMaxSize(EVENT_TYPES.length),
    IsArray(),
  );

class EndpointSettings {
  @TypesField(
    'Event types to send: `pv.session.online.v1`, or `session.online` for short. Empty: all, including future ones. Default for a new endpoint: all',
  )
  types?: string[];

  @ApiPropertyOptional({ maxLength: 500, description: 'A note for people' })
  @MayBeAbsent()
  @IsString()
  @MaxLength(500)
  description?: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    ...schema.SECRET,
    description:
      'Sent with every webhook: Authorization, and names that begin with X-; at most 10, each of at most 1,024 printable ASCII ' +
      'characters. Stored encrypted and never returned',
  })
  @MayBeAbsent()
  @AsParsed()
  @CheckedBy(headersFault)
  @IsObject({ message: 'headers must be a JSON object' })
  headers?: Readonly<Record<string, string>>;
}

export class NewWebhookEndpoint extends EndpointSettings {
  @ApiProperty({
    format: 'uri',
    maxLength: 2_000,
    description: 'https, or http if the deployment allows it; without user, password and fragment',
  })
  @IsString()
  url: string;

  @Secret()
  secret?: string;
}

export class WebhookEndpointChange extends EndpointSettings {
  @ApiPropertyOptional({
    format: 'uri',
    maxLength: 2_000,
    description:
      'A URL of another origin requires `headers` and `secret`, so that those of the previous receiver are not sent to another',
  })
  @MayBeAbsent()
  @IsString()
  url?: string;

  @Secret(
    `${SECRET_FORM} Only together with \`url\`; it replaces all earlier secrets at once. Otherwise, use /rotate-secret`,
  )
  secret?: string;

  @OptionalFlag(
    'false: nothing is sent, but no event is lost. true: sending resumes at the event at which it stopped',
  )
  enabled?: boolean;

  @OptionalFlag(
    'With `enabled: true` on a disabled endpoint: skip the missed events. Pending deliveries become `failed`; /redeliver can send ' +
      'any missed event',
  )
  skipMissed?: boolean;
}

export class SecretRotation {
  @Secret()
  secret?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MAX_OVERLAP_SECONDS,
    description: `How long the current secret still signs. 0: it and all previously rotated secrets stop signing at once. Default: ${DAY_SECONDS}`,
  })
  @MayBeAbsent()
  @IsInt()
  @Min(0)
  @Max(MAX_OVERLAP_SECONDS)
  overlapSeconds: number = DAY_SECONDS;
}

const ENDPOINT = {
  id: schema.uuid(),
  url: schema.field<string>({ type: String, format: 'uri' }),
  types: schema.field<string[]>(
    { enum: EVENT_NAMES.map(toEventType), isArray: true },
    'Subscribed event types. Empty: all',
  ),
  description: schema.text(),
  headerNames: schema.texts('The names of the custom headers; their values are never returned'),
  enabled: schema.flag(),
  disabledAt: schema.nullable(schema.instant()),
  disabledReason: schema.nullable(
    schema.oneOf(
      ['requested', 'gone', 'failing'] as const,
      'requested: by a person or app; gone: the receiver responded with 410; failing: every attempt failed for days',
    ),
  ),
  failures: schema.count('Consecutive failed attempts, across all events'),
  failingSince: schema.nullable(schema.instant('Time of the first of these failures')),
  lastDeliveredAt: schema.nullable(schema.instant()),
  previousSecretUntil: schema.nullable(schema.instant('When the last rotated secret stops signing')),
  pending: schema.count('Events to be sent or retried; counted up to 10,000'),
  unread: schema.count('Events of all types after its position in the feed; grows while it is disabled'),
  stalled: STALLED_FIELD,
  createdAt: schema.instant(),
  updatedAt: schema.instant(),
};

export class WebhookEndpointView extends schema.schemaOf(ENDPOINT) {}

export class CreatedWebhookEndpointView extends schema.schemaOf({
  ...ENDPOINT,
  secret: schema.shownOnce(schema.text('Signs webhooks. It is shown only once')),
}) {}

export class RotatedSecretView extends schema.schemaOf({
  secret: schema.shownOnce(schema.text('Signs webhooks from now on. It is shown only once')),
  previousSecretUntil: schema.nullable(
    schema.instant('When the last previous secret stops signing; null if none signs'),
  ),
}) {}

export class WebhookTestView extends schema.schemaOf({
  delivered: schema.flag('Whether the receiver responded with 2xx'),
  eventId: schema.uuid('Sent as `webhook-id`'),
  status: schema.nullable(schema.count('HTTP status; null if there was no response')),
  error: schema.nullable(schema.text('Why the attempt failed; null if it succeeded')),
  answer: schema.nullable(
    schema.text('The first kilobyte of the response body, with secrets removed; null if there was no body'),
  ),
  durationMs: schema.count('Duration from resolving the name to the end of the response'),
}) {}

import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsInt,
  IsObject,
  IsString,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { MayBeAbsent } from '../../../platform/http/may-be-absent.decorator.js';
import { AsParsed } from '../../../platform/http/validation.js';
import { EVENT_NAMES } from '../../catalogue.rules.js';
import { toEventType } from '../../cloud-event.js';
import { DISABLED_REASONS, type DisabledReason } from './endpoints.store.js';
import type { WebhookHeaders } from './headers.js';

const MAX_DESCRIPTION_LENGTH = 500;
/** Each event may be given by both of its names. */
const MAX_TYPES = 2 * EVENT_NAMES.length;

const DAY_SECONDS = 86_400;
export const DEFAULT_OVERLAP_SECONDS = DAY_SECONDS;
/** One week is enough to change a secret. Until the overlap ends, a leaked secret still signs. */
const MAX_OVERLAP_SECONDS = 7 * DAY_SECONDS;

const Secret = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      description: 'Your own secret: `whsec_` and base64 of 24 to 64 bytes. Default: 32 random bytes',
      pattern: '^whsec_[A-Za-z0-9+/]+={0,2}$',
    }),
    MayBeAbsent(),
    IsString(),
  );

/** Settings that can be given at creation and at any change. */
class EndpointSettings {
  @ApiPropertyOptional({
    type: [String],
    maxItems: MAX_TYPES,
    description:
      'Event types to send: `pv.session.online.v1`, or `session.online` for short. Empty: all, including future ones. Default for a new endpoint: all',
  })
  @MayBeAbsent()
  @IsArray()
  @ArrayMaxSize(MAX_TYPES)
  @IsString({ each: true, message: 'types must be a list of texts' })
  types?: string[];

  @ApiPropertyOptional({ maxLength: MAX_DESCRIPTION_LENGTH, description: 'A note for people' })
  @MayBeAbsent()
  @IsString()
  @MaxLength(MAX_DESCRIPTION_LENGTH)
  description?: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    description:
      'Sent with every webhook: Authorization, and names that begin with X-; at most 10, each of at most 1,024 printable ASCII ' +
      'characters. Stored encrypted and never returned',
  })
  @MayBeAbsent()
  @AsParsed()
  @IsObject({ message: 'headers must be a JSON object' })
  headers?: WebhookHeaders;
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
  @ApiPropertyOptional({ format: 'uri', maxLength: 2_000 })
  @MayBeAbsent()
  @IsString()
  url?: string;

  @ApiPropertyOptional({
    description:
      'false: nothing is sent, but no event is lost. true: sending resumes at the event at which it stopped',
  })
  @MayBeAbsent()
  @IsBoolean()
  enabled?: boolean;

  @ApiPropertyOptional({
    description:
      'With `enabled: true` on a disabled endpoint: skip the missed events. Pending deliveries become `failed`; /redeliver can send ' +
      'any missed event',
  })
  @MayBeAbsent()
  @IsBoolean()
  skipMissed?: boolean;
}

export class SecretRotation {
  @Secret()
  secret?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MAX_OVERLAP_SECONDS,
    default: DEFAULT_OVERLAP_SECONDS,
    description:
      'How long the current secret still signs. 0: it and all previously rotated secrets stop signing at once',
  })
  @MayBeAbsent()
  @IsInt()
  @Min(0)
  @Max(MAX_OVERLAP_SECONDS)
  overlapSeconds?: number;
}

export class WebhookEndpointView {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ format: 'uri' })
  url: string;

  @ApiProperty({
    enum: EVENT_NAMES.map(toEventType),
    isArray: true,
    description: 'Subscribed event types. Empty: all',
  })
  types: string[];

  @ApiProperty()
  description: string;

  @ApiProperty({
    type: [String],
    description: 'The names of the custom headers; their values are never returned',
  })
  headerNames: string[];

  @ApiProperty()
  enabled: boolean;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  disabledAt: Date | null;

  @ApiProperty({
    enum: DISABLED_REASONS,
    type: String,
    nullable: true,
    description:
      'requested: by a person or app; gone: the receiver responded with 410; failing: every attempt failed for days',
  })
  disabledReason: DisabledReason | null;

  @ApiProperty({ type: 'integer', description: 'Consecutive failed attempts, across all events' })
  failures: number;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Time of the first of these failures',
  })
  failingSince: Date | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  lastDeliveredAt: Date | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When the last rotated secret stops signing',
  })
  previousSecretUntil: Date | null;

  @ApiProperty({
    type: 'integer',
    description: 'Events to be sent or retried; counted up to 10,000',
  })
  pending: number;

  @ApiProperty({
    type: 'integer',
    description: 'Events of all types after its position in the feed; grows while it is disabled',
  })
  unread: number;

  @ApiProperty({ format: 'date-time' })
  createdAt: Date;

  @ApiProperty({ format: 'date-time' })
  updatedAt: Date;
}

export class CreatedWebhookEndpointView extends WebhookEndpointView {
  @ApiProperty({ description: 'Signs webhooks. It is shown only once' })
  secret: string;
}

export class RotatedSecretView {
  @ApiProperty({ description: 'Signs webhooks from now on. It is shown only once' })
  secret: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description:
      'When the last previous secret stops signing, each after its own overlap; null if none signs',
  })
  previousSecretUntil: Date | null;
}

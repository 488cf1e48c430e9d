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
/** Each may stand there by both of its names. */
const MAX_TYPES = 2 * EVENT_NAMES.length;

const DAY_SECONDS = 86_400;
export const DEFAULT_OVERLAP_SECONDS = DAY_SECONDS;
/** Whoever has not changed a secret within a week has forgotten it; until then, one that has leaked still signs. */
const MAX_OVERLAP_SECONDS = 7 * DAY_SECONDS;

const Secret = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      description:
        'Your own: `whsec_` and base64 of 24 to 64 bytes. Without it, one of 32 random bytes is made',
      pattern: '^whsec_[A-Za-z0-9+/]+={0,2}$',
    }),
    MayBeAbsent(),
    IsString(),
  );

/** What can be said of an endpoint at any time. */
class EndpointSettings {
  @ApiPropertyOptional({
    type: [String],
    maxItems: MAX_TYPES,
    description:
      'Which events: `pv.session.online.v1`, or `session.online` for short. Empty or left out: all there are and will be',
  })
  @MayBeAbsent()
  @IsArray()
  @ArrayMaxSize(MAX_TYPES)
  @IsString({ each: true, message: 'types must be a list of texts' })
  types?: string[];

  @ApiPropertyOptional({ maxLength: MAX_DESCRIPTION_LENGTH, description: 'For people' })
  @MayBeAbsent()
  @IsString()
  @MaxLength(MAX_DESCRIPTION_LENGTH)
  description?: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    description:
      'Sent with every webhook: Authorization, and names that begin with X-; at most 10, each of at most 1,024 printable ASCII ' +
      'characters. Kept encrypted and never answered',
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
    description: 'https, or http where private addresses are allowed; without user, password and fragment',
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
      'false: nothing is sent, and nothing is lost. true: it goes on with the event at which it stopped',
  })
  @MayBeAbsent()
  @IsBoolean()
  enabled?: boolean;

  @ApiPropertyOptional({
    description:
      'With `enabled: true` on an endpoint that is disabled: go on with what happens from now on. What it missed is kept as ' +
      '`failed` and can be asked for by /redeliver',
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
    description: 'How long the secret of until now signs too. 0: not a moment longer, nor any before it',
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

  @ApiProperty({ enum: EVENT_NAMES.map(toEventType), isArray: true, description: 'Empty: all' })
  types: string[];

  @ApiProperty()
  description: string;

  @ApiProperty({ type: [String], description: 'The names of its own headers; their values are not answered' })
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
      'requested: by a person or app; gone: it answered 410; failing: nothing but failures for days',
  })
  disabledReason: DisabledReason | null;

  @ApiProperty({ type: 'integer', description: 'Attempts in a row that failed, whatever the event' })
  failures: number;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'The first of them' })
  failingSince: Date | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  lastDeliveredAt: Date | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Until when the last of the secrets that were rotated signs too',
  })
  previousSecretUntil: Date | null;

  @ApiProperty({
    type: 'integer',
    description: 'Events on their way to it, or waiting for another attempt; counted up to 10,000',
  })
  pending: number;

  @ApiProperty({
    type: 'integer',
    description: 'Events behind its place in the feed, of all types: what waits for it while it is disabled',
  })
  unread: number;

  @ApiProperty({ format: 'date-time' })
  createdAt: Date;

  @ApiProperty({ format: 'date-time' })
  updatedAt: Date;
}

export class CreatedWebhookEndpointView extends WebhookEndpointView {
  @ApiProperty({ description: 'Signs what is sent. It is shown this once' })
  secret: string;
}

export class RotatedSecretView {
  @ApiProperty({ description: 'Signs from now on. It is shown this once' })
  secret: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description:
      'Until when the last of those before signs too, each for its own overlap; null when none does',
  })
  previousSecretUntil: Date | null;
}

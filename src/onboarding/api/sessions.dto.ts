import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsOptional, IsUUID } from 'class-validator';
import { AsParsed, InstantParameter, IntegerParameter } from '../../platform/http/validation.js';
import { PageQuery } from '../../platform/http/page.js';
import { CheckedBy } from '../../users/checked-by.decorator.js';
import { metadataFault } from '../../users/metadata.rules.js';
import type { Metadata } from '../../users/metadata.rules.js';
import { tenantReferenceFault } from '../../users/tenant-reference.rules.js';
import { brandFault } from './brand.js';
import { SessionInverterView } from './inverters.dto.js';
import { SESSION_STATES } from '../rules/machine.rules.js';
import type { Basis, SessionState } from '../rules/machine.rules.js';

export class NewSession {
  @ApiPropertyOptional({
    description: 'The inverter brand; one session connects inverters of one brand',
    minLength: 1,
    maxLength: 100,
  })
  @IsOptional()
  @CheckedBy(brandFault)
  brand?: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description:
      'Your own data, returned unchanged in responses and events; at most 4,096 bytes. No personal data',
  })
  @IsOptional()
  @AsParsed()
  @CheckedBy(metadataFault)
  metadata?: Metadata;

  @ApiPropertyOptional({
    default: true,
    description: 'Return the open session of this location and brand, if there is one',
  })
  @IsOptional()
  @IsBoolean()
  reuse?: boolean;
}

export class SessionQuery {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: 86_400,
    description: 'Seconds; if our copy is older, the remote service is read first',
  })
  @IntegerParameter({ min: 0, max: 86_400 })
  maxAge?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: 60,
    description: 'Seconds; respond as soon as the state changes, at the latest after this time',
  })
  @IntegerParameter({ min: 0, max: 60 })
  wait?: number;

  @ApiPropertyOptional({
    enum: SESSION_STATES,
    description:
      'With `wait`: the state that you know. If the session has another state, the response is immediate, so no change between two requests is missed. Default: the current state',
  })
  @IsOptional()
  @IsIn(SESSION_STATES)
  from?: SessionState;
}

export class SessionsQuery extends PageQuery {
  @ApiPropertyOptional({ enum: SESSION_STATES })
  @IsOptional()
  @IsIn(SESSION_STATES)
  state?: SessionState;

  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID('loose')
  userId?: string;

  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID('loose')
  gridLocationId?: string;

  @ApiPropertyOptional()
  @IsOptional()
  @CheckedBy(tenantReferenceFault)
  tenantReference?: string;

  @ApiPropertyOptional()
  @IsOptional()
  @CheckedBy(brandFault)
  brand?: string;

  @ApiPropertyOptional({
    format: 'date-time',
    type: String,
    description: 'Sessions whose record changed at or after this instant',
  })
  @InstantParameter()
  updatedSince?: Date;
}

/** Instants are text: JSON.stringify takes twice as long to convert a Date. */
export class SessionView {
  @ApiProperty({ format: 'uuid', description: 'The remote sessionId, valid in both systems' })
  id: string;

  @ApiProperty({ format: 'uuid' })
  userId: string;

  @ApiProperty({ format: 'uuid' })
  gridLocationId: string;

  @ApiProperty({ type: String, nullable: true, description: 'null once the user has been erased' })
  tenantReference: string | null;

  @ApiProperty({ type: String, nullable: true })
  brand: string | null;

  @ApiProperty({ type: 'object', additionalProperties: true, description: 'As given at the start' })
  metadata: Metadata;

  @ApiProperty({ enum: SESSION_STATES })
  state: SessionState;

  @ApiProperty({
    enum: ['observed', 'inferred'],
    description: 'Whether the remote service stated it, or we conclude it',
  })
  basis: Basis;

  @ApiProperty({ description: 'As in the last response of the remote service' })
  finished: boolean;

  @ApiProperty()
  active: boolean;

  @ApiProperty({ type: Boolean, nullable: true, description: 'null until the remote service states it' })
  expired: boolean | null;

  @ApiProperty({
    type: String,
    format: 'uri',
    nullable: true,
    description:
      'Link for the PV owner. Anyone who has it may act for the owner; null without the scope `onboarding:write` or once the web flow is over',
  })
  startUrl: string | null;

  @ApiProperty({ type: [SessionInverterView] })
  inverters: readonly SessionInverterView[];

  @ApiProperty({ format: 'date-time', description: "The remote service's time" })
  createdAt: string;

  @ApiProperty({ format: 'date-time', description: "The remote service's time" })
  updatedAt: string;

  @ApiProperty({
    format: 'date-time',
    description: "The remote service's time; what happens then is not specified",
  })
  expiresAt: string;

  @ApiProperty({ format: 'date-time', description: 'When the remote service was last read' })
  checkedAt: string;

  @ApiProperty({
    format: 'date-time',
    type: String,
    nullable: true,
    description: 'When it is read next; null if it is no longer watched',
  })
  nextCheckAt: string | null;

  @ApiProperty({
    format: 'date-time',
    type: String,
    nullable: true,
    description: 'When the watch ended; null while it is watched',
  })
  closedAt: string | null;
}

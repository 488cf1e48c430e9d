import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsUUID } from 'class-validator';
import { PageQuery } from '../../platform/http/page.js';

export class InvertersQuery extends PageQuery {
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID('loose')
  userId?: string;

  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID('loose')
  gridLocationId?: string;
}

/** An inverter within a session. */
export class SessionInverterView {
  @ApiProperty({ format: 'uuid', description: 'The remote id, for data and curtailment calls' })
  id: string;

  @ApiProperty({ format: 'date-time' })
  firstSeenAt: Date;

  @ApiProperty({ format: 'date-time' })
  lastSeenAt: Date;

  @ApiProperty({
    format: 'date-time',
    type: String,
    nullable: true,
    description: 'When its session stopped listing it; null while it is listed',
  })
  missingSince: Date | null;
}

export class InverterView extends SessionInverterView {
  @ApiProperty({ format: 'uuid', description: 'The session that lists it, or listed it last' })
  sessionId: string;

  @ApiProperty({ format: 'uuid' })
  userId: string;

  @ApiProperty({ format: 'uuid' })
  gridLocationId: string;

  @ApiProperty({ type: String, nullable: true })
  brand: string | null;
}

import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { GridLocationInput } from './register-user.dto.js';

export class ConfirmedGridLocationInput extends GridLocationInput {
  @ApiProperty({ format: 'uuid' })
  id: string;
}

/**
 * The user object of the remote service (interface section 2.3), for the documentation. The service reads it like a response of the
 * remote service, so further properties are not an error.
 */
export class ConfirmedUserInput {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ description: 'The tenantReference of the registration' })
  tenantReference: string;

  @ApiProperty({ type: [ConfirmedGridLocationInput], description: 'With every EAN of the registration' })
  gridLocations: ConfirmedGridLocationInput[];

  @ApiPropertyOptional()
  tenantName?: string;

  @ApiPropertyOptional()
  firstName?: string;

  @ApiPropertyOptional()
  lastName?: string;

  @ApiPropertyOptional()
  email?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'In the years 1 to 9999' })
  createdAt?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'In the years 1 to 9999' })
  updatedAt?: string;
}

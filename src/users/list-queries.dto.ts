import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { PageQuery } from '../platform/http/page.js';
import { CheckedBy } from './checked-by.decorator.js';
import { eanFault } from './ean.rules.js';
import { REGISTRATION_STATUSES, type RegistrationStatus } from './registration/registration.rules.js';
import { tenantReferenceFault } from './tenant-reference.rules.js';

export class ListUsersQuery extends PageQuery {
  @ApiPropertyOptional({ description: 'Only the user with this reference' })
  @IsOptional()
  @CheckedBy(tenantReferenceFault)
  tenantReference?: string;

  @ApiPropertyOptional({ pattern: '^[1-9][0-9]{17}$', description: 'Only users with this grid connection' })
  @IsOptional()
  @CheckedBy(eanFault)
  ean?: string;
}

export class ListRegistrationsQuery extends PageQuery {
  @ApiPropertyOptional({ enum: REGISTRATION_STATUSES, description: 'Only registrations in this status' })
  @IsOptional()
  @IsIn(REGISTRATION_STATUSES)
  status?: RegistrationStatus;

  @ApiPropertyOptional({ description: 'Only registrations of this reference' })
  @IsOptional()
  @CheckedBy(tenantReferenceFault)
  tenantReference?: string;
}

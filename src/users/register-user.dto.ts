import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsOptional, ValidateNested } from 'class-validator';
import { AsParsed } from '../platform/http/validation.js';
import { CheckedBy } from './checked-by.decorator.js';
import { eanFault } from './ean.js';
import { metadataFault, type Metadata } from './metadata.js';
import { tenantReferenceFault } from './tenant-reference.js';

/** More connections than one customer has, and few enough that one registration stays one small request. */
const MAX_GRID_LOCATIONS = 100;

export class GridLocationInput {
  @ApiProperty({
    description: 'The EAN of the grid connection: 18 digits, as a string or as a bare JSON number, not beginning with 0',
    oneOf: [{ type: 'string', pattern: '^[1-9][0-9]{17}$' }, { type: 'integer' }],
    example: '541448860004178019',
  })
  @AsParsed()
  @CheckedBy(eanFault)
  ean: unknown;
}

export class RegisterUserInput {
  @ApiProperty({
    description:
      "The tenant's own reference for the user, of which there is one registration: no control characters, no blank at either end",
    minLength: 1,
    maxLength: 200,
    example: 'customer-4711',
  })
  @CheckedBy(tenantReferenceFault)
  tenantReference: string;

  @ApiProperty({ type: [GridLocationInput], minItems: 1, maxItems: MAX_GRID_LOCATIONS, description: 'Each EAN once' })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_GRID_LOCATIONS)
  @CheckedBy(objectsFault)
  @ValidateNested({ each: true, message: 'must be an array of objects' })
  @Type(() => GridLocationInput)
  gridLocations: GridLocationInput[];

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Kept with the user and answered as it came: at most 4,096 bytes, at most 8 levels deep',
    example: { salesChannel: 'web' },
  })
  @IsOptional()
  @AsParsed()
  @CheckedBy(metadataFault)
  metadata?: Metadata;
}

// ValidateNested passes over null and undefined, and says of a number only that something is wrong somewhere.
function objectsFault(value: unknown): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const index = value.findIndex((item) => typeof item !== 'object' || item === null || Array.isArray(item));
  return index < 0 ? undefined : `must hold objects with an ean only; item ${index} is none`;
}

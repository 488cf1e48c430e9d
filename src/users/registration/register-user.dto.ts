import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsOptional, ValidateNested } from 'class-validator';
import { AsParsed } from '../../platform/http/validation.js';
import { CheckedBy } from '../checked-by.decorator.js';
import { eanFault } from '../ean.rules.js';
import { isPlainObject, metadataFault, type Metadata } from '../metadata.rules.js';
import { tenantReferenceFault } from '../tenant-reference.rules.js';

/** More grid connections than one customer has, and few enough for one small request. */
const MAX_GRID_LOCATIONS = 100;

export class GridLocationInput {
  @ApiProperty({
    description:
      'The EAN of the grid connection: 18 digits, as a string or as a bare JSON number, not beginning with 0',
    oneOf: [{ type: 'string', pattern: '^[1-9][0-9]{17}$' }, { type: 'integer' }],
    example: '541448860004178013',
  })
  @CheckedBy(eanFault)
  ean: unknown;
}

export class RegisterUserInput {
  @ApiProperty({
    description:
      "The tenant's own reference for the user; it has at most one live registration. No control characters, no blank at either end",
    minLength: 1,
    maxLength: 200,
    example: 'customer-4711',
  })
  @CheckedBy(tenantReferenceFault)
  tenantReference: string;

  @ApiProperty({
    type: [GridLocationInput],
    minItems: 1,
    maxItems: MAX_GRID_LOCATIONS,
    description: 'Each EAN once',
  })
  @Transform(({ obj }: { obj: { gridLocations: unknown } }) => asInputs(obj.gridLocations))
  @CheckedBy(gridLocationsFault)
  @ValidateNested({ each: true, message: 'must be an object with an ean' })
  gridLocations: GridLocationInput[];

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Stored with the user and returned unchanged; at most 4,096 bytes, at most 8 levels deep',
    example: { salesChannel: 'web' },
  })
  @IsOptional()
  @AsParsed()
  @CheckedBy(metadataFault)
  metadata?: Metadata;
}

/**
 * Creates the inputs by hand: class-transformer would mistake a LosslessNumber for a grid location. Non-objects become null, so that
 * ValidateNested reports their index.
 */
function asInputs(value: unknown): unknown {
  if (!Array.isArray(value)) return undefined;
  return value.map((item: unknown) =>
    isPlainObject(item) ? Object.assign(new GridLocationInput(), item) : null,
  );
}

function gridLocationsFault(value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'must be an array';
  const isFitting = value.length >= 1 && value.length <= MAX_GRID_LOCATIONS;
  return isFitting ? undefined : `must hold 1 to ${MAX_GRID_LOCATIONS} grid locations, not ${value.length}`;
}

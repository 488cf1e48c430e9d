import { Transform } from 'class-transformer';
import { ValidateNested } from 'class-validator';
import { Field } from '../platform/http/field.js';
import { OptionalFlag } from '../platform/http/parameters.js';
import { EAN_PATTERN, eanFault, MAX_GRID_LOCATIONS } from './ean.rules.js';
import { MetadataField } from './metadata.dto.js';
import { isPlainObject, type Metadata } from './metadata.rules.js';
import { MAX_REFERENCE_LENGTH, tenantReferenceFault } from './tenant-reference.rules.js';

export class GridLocationInput {
  @Field({
    required: true,
    description:
      'The EAN of the grid connection: 18 digits, not beginning with 0. A bare JSON number is also accepted, but clients whose numbers are doubles round it',
    type: String,
    pattern: EAN_PATTERN,
    example: '541448860004178013',
    faultOf: eanFault,
  })
  ean: unknown;
}

export class RegisterUserInput {
  @Field({
    required: true,
    description:
      "The tenant's own reference for the user; it has at most one live registration. Stored in Unicode's composed form (NFC), without blanks at its ends and without an apostrophe before it. No control, invisible or direction characters",
    minLength: 1,
    maxLength: MAX_REFERENCE_LENGTH,
    example: 'customer-4711',
    faultOf: tenantReferenceFault,
  })
  tenantReference: string;

  @Field({
    required: true,
    type: GridLocationInput,
    isArray: true,
    minItems: 1,
    maxItems: MAX_GRID_LOCATIONS,
    description: 'Each EAN once',
  })
  @Transform(({ obj }: { obj: { gridLocations: unknown } }) => asInputs(obj.gridLocations))
  @ValidateNested({ each: true, message: 'must be an object with an ean' })
  gridLocations: GridLocationInput[];

  @OptionalFlag(
    'Whether each EAN is right although it looks rounded. Compare them with your system first. Default: false',
  )
  eanConfirmed?: boolean;

  @MetadataField({
    description:
      'Your own data, returned unchanged in responses and events; at most 4,096 bytes, at most 8 levels deep. No personal data',
    example: { salesChannel: 'web' },
  })
  metadata?: Metadata;
}

/** Creates the inputs by hand: class-transformer takes a LosslessNumber for one. ValidateNested reports the null of a non-object. */
function asInputs(value: unknown): unknown {
  if (!Array.isArray(value)) return value === undefined ? undefined : null;
  return value.map((item: unknown) =>
    isPlainObject(item) ? Object.assign(new GridLocationInput(), item) : null,
  );
}

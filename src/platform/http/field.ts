import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import * as check from 'class-validator';
import { CheckedBy, MayBeAbsent } from './validation.js';

/** The schema of a field. The declared keywords are also checked; others only describe. */
export interface FieldSchema {
  readonly required?: true;
  /** Whether the field may be null, to remove its value. */
  readonly nullable?: true;
  readonly type?: unknown;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly isArray?: boolean;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  /** Returns what is wrong with a value, or undefined. It replaces all checks but those of a list (`isArray`). */
  readonly faultOf?: (value: unknown) => string | undefined;
  readonly [keyword: string]: unknown;
}

/** Declares a field of a body by its schema, which describes and checks it. A field that is not required may be absent, and null if it is nullable. */
export function Field({ faultOf, ...schema }: FieldSchema): PropertyDecorator {
  const { required = false, nullable = false } = schema;
  return applyDecorators(
    ApiProperty({ ...schema, required } as ApiPropertyOptions),
    ...(required ? [] : [nullable ? check.IsOptional() : MayBeAbsent()]),
    // The check applied last provides the error message, so the check of the type comes last.
    ...(faultOf === undefined ? checksOf(schema) : [CheckedBy(faultOf)]),
    ...(schema.isArray === true ? checksOfList(schema) : []),
  );
}

function checksOf({ isArray: each = false, ...schema }: FieldSchema): PropertyDecorator[] {
  const { type, minimum, maximum, minLength, maxLength } = schema;
  if (schema.enum !== undefined) return [check.IsIn(schema.enum, { each })];
  if (schema.format === 'uuid')
    return [check.IsUUID('loose', { each, ...(each && { message: '$property must be a list of UUIDs' }) })];
  if (schema.format === 'date-time') return [check.IsDate({ message: NO_INSTANT })];
  if (type === Boolean) return [check.IsBoolean()];
  if (type === 'integer')
    return [check.Max(maximum ?? Infinity), check.Min(minimum ?? -Infinity), check.IsInt()];
  if (type !== String) return [];
  return [check.Length(minLength ?? 0, maxLength), check.IsString()];
}

const checksOfList = ({ uniqueItems = false, minItems = 0, maxItems = Infinity }: FieldSchema) => [
  check.ArrayMaxSize(maxItems),
  ...(uniqueItems ? [check.ArrayUnique()] : []),
  check.ArrayMinSize(minItems),
  check.IsArray(),
];

const NO_INSTANT = '$property must be an RFC 3339 timestamp with Z or an offset, of the years 1 to 9999';

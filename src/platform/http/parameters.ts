import { applyDecorators, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { IsOptional, isUUID } from 'class-validator';
import { readInstant } from '../time/instant.rules.js';
import { Field, type FieldSchema } from './field.js';
import { readFlag, ReadText, refuse } from './validation.js';

/** Declares a field that may be absent or null: an optional parameter of a query, or a field of a body. */
const Optional = (schema: FieldSchema): PropertyDecorator => applyDecorators(IsOptional(), Field(schema));

/** Declares an optional query parameter that is a whole number in decimal digits. Initialise the property with the default, if any. */
export const IntegerParameter = (
  options: Readonly<{ minimum: number; maximum: number; default?: number; description: string }>,
): PropertyDecorator =>
  applyDecorators(
    ReadText((text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : text)),
    Optional({ type: 'integer', ...options }),
  );

/** Declares an optional query parameter that is an instant, as a Date. */
export const InstantParameter = (description: string): PropertyDecorator =>
  applyDecorators(ReadText(readInstant), Optional({ type: String, format: 'date-time', description }));

export const UuidParameter = (description?: string): PropertyDecorator =>
  Optional({ format: 'uuid', description });

/** Declares an optional text in a query or a body. `faultOf` is a pure function that returns what is wrong with the value, or undefined. */
export const OptionalText = (
  faultOf: (value: unknown) => string | undefined,
  schema: FieldSchema = {},
): PropertyDecorator => Optional({ ...schema, faultOf });

export const OptionalFlag = (description: string): PropertyDecorator => Field({ type: Boolean, description });

/** Declares an optional query parameter that is `true` or `false`. Initialise the property with the default. */
export const FlagParameter = (description: string): PropertyDecorator =>
  applyDecorators(ReadText(readFlag), Optional({ type: Boolean, description, faultOf: flagFault }));

const flagFault = (value: unknown) => (typeof value === 'boolean' ? undefined : 'must be true or false');

export const ChoiceParameter = (values: readonly string[], description?: string): PropertyDecorator =>
  Optional({ enum: values, description });

/** Returns the UUID in lower case, as PostgreSQL does; throws for other text. Accepts any version: the remote service makes most ids. */
export class ParseUuid implements PipeTransform<string, string> {
  transform(value: string, { data }: ArgumentMetadata): string {
    if (!isUUID(value, 'loose')) refuse([{ field: data ?? 'id', message: 'must be a UUID' }]);
    return value.toLowerCase();
  }
}

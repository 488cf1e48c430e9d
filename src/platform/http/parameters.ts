import { applyDecorators, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsDate, IsIn, IsInt, IsOptional, isUUID, IsUUID, Max, Min } from 'class-validator';
import { parseInstant } from '../time/instant.rules.js';
import { CheckedBy, MayBeAbsent, readFlag, ReadText, refuse } from './validation.js';

/** Declares an optional query parameter that is a whole number in decimal digits. Initialise the property with the default, if any. */
export function IntegerParameter(
  options: Readonly<{ minimum: number; maximum: number; default?: number; description: string }>,
): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: 'integer', ...options }),
    ReadText((text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : text)),
    IsOptional(),
    // The rule applied last provides the error message, so the type rule comes last.
    Max(options.maximum),
    Min(options.minimum),
    IsInt(),
  );
}

/** Declares an optional query parameter that is an instant, as a Date. */
export function InstantParameter(description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: String, format: 'date-time', description }),
    ReadText((text) => {
      const read = parseInstant(text);
      return read.kind === 'instant' ? read.at : text;
    }),
    IsOptional(),
    IsDate({
      message: '$property must be an RFC 3339 timestamp with Z or an offset, of the years 1 to 9999',
    }),
  );
}

export const UuidParameter = (description?: string): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ format: 'uuid', description }), IsOptional(), IsUUID('loose'));

/** Declares an optional text in a query or a body. `faultOf` is a pure function that returns what is wrong with the value, or undefined. */
export const OptionalText = (
  faultOf: (value: unknown) => string | undefined,
  schema: { description?: string; pattern?: string; minLength?: number; maxLength?: number } = {},
): PropertyDecorator => applyDecorators(ApiPropertyOptional(schema), IsOptional(), CheckedBy(faultOf));

export const OptionalFlag = (description: string): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ description }), MayBeAbsent(), IsBoolean());

/** Declares an optional query parameter that is `true` or `false`. Initialise the property with the default. */
export const FlagParameter = (description: string): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ type: Boolean, description }),
    ReadText(readFlag),
    IsOptional(),
    IsBoolean({ message: '$property must be true or false' }),
  );

export const ChoiceParameter = (values: readonly string[], description?: string): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ enum: values, description }), IsOptional(), IsIn(values));

/** Returns the UUID in lower case, as PostgreSQL does; throws for other text. Accepts any version: the remote service makes most ids. */
export class ParseUuid implements PipeTransform<string, string> {
  transform(value: string, { data }: ArgumentMetadata): string {
    if (!isUUID(value, 'loose')) refuse([{ field: data ?? 'id', message: 'must be a UUID' }]);
    return value.toLowerCase();
  }
}

import { applyDecorators } from '@nestjs/common';
import { ChoiceParameter, InstantParameter, OptionalText, UuidParameter } from '../http/parameters.js';
import type { FieldSchema } from '../http/field.js';
import { ReadText } from '../http/validation.js';
import type { Filter } from './list.js';

/** A filter by any parameter. */
export const parameter = <Value>(
  declared: PropertyDecorator,
  where: Filter<Value>['where'],
): Filter<Value> => ({ parameter: declared, where });

export const uuid = (column: string, description?: string): Filter<string> =>
  parameter(UuidParameter(description), `${column} = ?`);

const textFault = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= 200
    ? undefined
    : 'must have 1 to 200 characters';

interface TextOptions extends FieldSchema {
  readonly read?: (text: string) => string;
}

/** Of 1 to 200 characters, unless `faultOf` says what is wrong with a text. `read` gives the form in which such a text is stored. */
export const text = (
  where: Filter<string>['where'],
  { faultOf = textFault, read, ...schema }: TextOptions = {},
): Filter<string> =>
  parameter(
    applyDecorators(...(read === undefined ? [] : [ReadText(read)]), OptionalText(faultOf, schema)),
    where,
  );

export const choice = <Value extends string>(
  column: string,
  values: readonly Value[],
  description?: string,
): Filter<Value> => parameter(ChoiceParameter(values, description), `${column} = ?`);

/** Only items at or after an instant. */
export const since = (column: string, description: string): Filter<Date> =>
  parameter(InstantParameter(description), `${column} >= ?`);

/** Only items before an instant. */
export const before = (column: string, description: string): Filter<Date> =>
  parameter(InstantParameter(description), `${column} < ?`);

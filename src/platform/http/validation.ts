import { applyDecorators, type ArgumentMetadata, type PipeTransform, type Type } from '@nestjs/common';
import { plainToInstance, Transform } from 'class-transformer';
import { IsDate, IsInt, IsOptional, Max, Min, validate, type ValidationError } from 'class-validator';
import { LosslessNumber } from '../json/lossless.js';
import { Problem, type FieldError } from '../problem/problem.js';
import { parseInstant } from '../time/instant.rules.js';
import { inheritedNames } from './inherited-names.js';
import { textErrors } from './text-errors.js';

/** The detail names the first few errors; `errors` has all of them. */
const DETAILED_ERRORS = 3;
/** Replaces messages of class-validator that callers would not understand. */
const MESSAGES = new Map([
  ['whitelistValidation', 'is not known here'],
  ['nestedValidation', 'must be a JSON object'],
]);
/** Bounds the response: a body may have 10,000 invalid items. */
const MAX_ERRORS = 100;

/**
 * Turns bodies and queries into instances of their classes and checks them with class-validator. Refuses undeclared names, so that a
 * misspelt filter or field never silently has no effect.
 */
export class RequestValidation implements PipeTransform {
  /** DTOs known to accept an empty object. */
  private readonly fineWhenEmpty = new WeakSet<object>();

  transform(value: unknown, { type, metatype, data }: ArgumentMetadata): unknown {
    if (type === 'custom') return value;
    refuse(textErrors(value, data));
    if (type === 'query') refuse(repeatedParameters(value));
    if (metatype === undefined || !isDeclared(metatype)) return value;
    if (value !== undefined && !isPlainObject(value)) {
      throw new Problem('invalid_request', `The ${type} must be a JSON object`);
    }
    // Most requests have no query, and class-validator would take a tenth of their CPU to find no error.
    const isEmpty = Object.keys(value ?? {}).length === 0;
    if (isEmpty && this.fineWhenEmpty.has(metatype)) return new metatype();
    return this.instantiate(metatype, value ?? {}, isEmpty);
  }

  private async instantiate(metatype: Type, value: object, isEmpty: boolean): Promise<object> {
    const instance = plainToInstance(metatype, value, { exposeUnsetFields: false }) as object;
    const errors = await validate(instance, {
      whitelist: true,
      forbidNonWhitelisted: true,
      forbidUnknownValues: true,
      validationError: { target: false },
    });
    refuse([...errors.flatMap((error) => flatten(error, '')), ...inheritedNames(value, instance)]);
    if (isEmpty) this.fineWhenEmpty.add(metatype);
    return instance;
  }
}

/** Declares an optional query parameter that is a whole number in decimal digits. Give the property its default, if any. */
export function IntegerParameter({ min, max }: { min: number; max: number }): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value,
    ),
    IsOptional(),
    // applyDecorators applies from first to last, so the type rule comes last here.
    Max(max),
    Min(min),
    IsInt(),
  );
}

/** Declares an optional query parameter that is an instant, as a Date. */
export function InstantParameter(): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: { value: unknown }) => {
      const read = parseInstant(value);
      return read.kind === 'instant' ? read.at : value;
    }),
    IsOptional(),
    IsDate({
      message: '$property must be an RFC 3339 timestamp with Z or an offset, of the years 1 to 9999',
    }),
  );
}

/**
 * Passes a property through exactly as parsed. class-transformer would drop names such as `valueOf` from a free-form object and copy its
 * numbers.
 */
export function AsParsed(): PropertyDecorator {
  return Transform(({ obj, key }: { obj: Record<string, unknown>; key: string }) => obj[key]);
}

/** Throws Problem invalid_request if there are errors. */
export function refuse(errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  const said = errors.slice(0, DETAILED_ERRORS).map(({ field, message }) => `${field} ${message}`);
  const more = errors.length > DETAILED_ERRORS ? `; and ${errors.length - DETAILED_ERRORS} more` : '';
  throw new Problem('invalid_request', said.join('; ') + more, { errors: errors.slice(0, MAX_ERRORS) });
}

const isDeclared = (metatype: NonNullable<ArgumentMetadata['metatype']>): boolean =>
  ![String, Boolean, Number, Array, Object, Date].some((builtIn) => builtIn === metatype);

const isPlainObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber);

function repeatedParameters(query: unknown): FieldError[] {
  return Object.entries(query ?? {})
    .filter(([, value]) => Array.isArray(value))
    .map(([field]) => ({ field, message: 'must be given once' }));
}

function flatten(error: ValidationError, parent: string): FieldError[] {
  const field = /^\d+$/.test(error.property)
    ? `${parent}[${error.property}]`
    : `${parent && `${parent}.`}${error.property}`;
  const own =
    error.constraints === undefined ? [] : [{ field, message: messageOf(error, error.constraints) }];
  return [...own, ...(error.children ?? []).flatMap((child) => flatten(child, field))];
}

/**
 * Returns one message per field. Decorators apply from last to first, so the last entry is the rule written first: the type rule, without
 * which the others make no sense.
 */
function messageOf({ property, value }: ValidationError, constraints: Record<string, string>): string {
  if (value === undefined) return 'is required';
  // class-validator always adds the check for a nested object last.
  const { nestedValidation, ...own } = constraints;
  const [rule, message] = Object.entries(own).at(-1) ?? ['nestedValidation', nestedValidation ?? ''];
  return MESSAGES.get(rule) ?? withoutName(message, property);
}

/** Removes the property's name, with which class-validator starts its messages; `field` contains it already. */
const withoutName = (message: string, property: string): string =>
  message.startsWith(`${property} `) ? message.slice(property.length + 1) : message;

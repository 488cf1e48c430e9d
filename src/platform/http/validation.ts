import { applyDecorators, type ArgumentMetadata, type PipeTransform, type Type } from '@nestjs/common';
import { plainToInstance, Transform } from 'class-transformer';
import { IsDate, IsInt, IsOptional, Max, Min, validate, type ValidationError } from 'class-validator';
import { LosslessNumber } from '../json/lossless.js';
import { Problem, type FieldError } from '../problem/problem.js';
import { parseInstant } from '../time/instant.rules.js';
import { inheritedNames } from './inherited-names.js';
import { textErrors } from './text-errors.js';

/** Names the first few in the detail; all of them are in `errors`. */
const DETAILED_ERRORS = 3;
/** Where class-validator's own words would puzzle somebody who does not know it. */
const MESSAGES = new Map([
  ['whitelistValidation', 'is not known here'],
  ['nestedValidation', 'must be a JSON object'],
]);
/** A body of 10,000 bad items needs no answer of 10,000 messages. */
const MAX_ERRORS = 100;

/**
 * Makes bodies and queries into instances of their classes and checks them with class-validator. Whatever a class does not
 * declare is refused, so that a misspelt filter or field is never silently without effect.
 */
export class RequestValidation implements PipeTransform {
  /** Classes that nothing at all is right for: what their decorators say of it is always the same. */
  private readonly fineWhenEmpty = new WeakSet<object>();

  transform(value: unknown, { type, metatype, data }: ArgumentMetadata): unknown {
    if (type === 'custom') return value;
    refuse(textErrors(value, data));
    if (type === 'query') refuse(repeatedParameters(value));
    if (metatype === undefined || !isDeclared(metatype)) return value;
    if (value !== undefined && !isPlainObject(value)) {
      throw new Problem('invalid_request', `The ${type} must be a JSON object`);
    }
    // Most requests have no query, and class-validator took a tenth of their CPU to find nothing wrong with that.
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

/** A query parameter that is a whole number in decimal digits. Optional; give the property a default where it has one. */
export function IntegerParameter({ min, max }: { min: number; max: number }): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value,
    ),
    IsOptional(),
    // applyDecorators goes from the first to the last, so the rule about the type comes last here.
    Max(max),
    Min(min),
    IsInt(),
  );
}

/** A query parameter that is an instant, as a Date. Optional. */
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
 * Hands a property over exactly as it was parsed. class-transformer would drop names such as `valueOf` from a free-form object
 * and make copies of its numbers.
 */
export function AsParsed(): PropertyDecorator {
  return Transform(({ obj, key }: { obj: Record<string, unknown>; key: string }) => obj[key]);
}

/** Throws Problem invalid_request when there are errors. */
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
 * One message for a field. Decorators apply from the last to the first, so the last entry is the rule that was written first:
 * the one about the type, without which the others make no sense.
 */
function messageOf({ property, value }: ValidationError, constraints: Record<string, string>): string {
  if (value === undefined) return 'is required';
  // Whether a nested object is one at all is always noted last.
  const { nestedValidation, ...own } = constraints;
  const [rule, message] = Object.entries(own).at(-1) ?? ['nestedValidation', nestedValidation ?? ''];
  return MESSAGES.get(rule) ?? withoutName(message, property);
}

/** class-validator begins its messages with the property's name, which `field` says already. */
const withoutName = (message: string, property: string): string =>
  message.startsWith(`${property} `) ? message.slice(property.length + 1) : message;

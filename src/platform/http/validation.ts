import type { ArgumentMetadata, CanActivate, ExecutionContext, PipeTransform, Type } from '@nestjs/common';
import { plainToInstance, Transform } from 'class-transformer';
import { validate, ValidateBy, ValidateIf, type ValidationError } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { LosslessNumber } from '../json/lossless.js';
import { Problem, type FieldError, type ProblemCode } from '../problem/problem.js';
import { inheritedNames, shapeErrors, textErrors, UNKNOWN_NAME } from './field-errors.js';
import { readsQuery } from './query.decorator.js';
// Declares `isPublic` of a route.
import type {} from './public.decorator.js';

/** How many errors the `detail` of a problem names. Its `errors` lists up to MAX_ERRORS. */
const DETAILED_ERRORS = 3;
/** Replaces messages of class-validator that callers would not understand. */
const MESSAGES = new Map([
  ['whitelistValidation', UNKNOWN_NAME],
  ['nestedValidation', 'must be a JSON object'],
]);
/** Limits the size of the response: a body may have 10,000 invalid items. */
const MAX_ERRORS = 100;
/** Limits the size of the response: every error of a long name repeats the name. */
const MAX_FIELD_LENGTH = 500;

/** Turns bodies and queries into valid instances of their classes. Refuses undeclared names, so that no misspelt filter is ignored. */
export class RequestValidation implements PipeTransform {
  /** DTO classes that are known to accept an empty object. */
  private readonly fineWhenEmpty = new WeakSet<object>();

  transform(value: unknown, { type, metatype, data }: ArgumentMetadata): unknown {
    if (type === 'custom') return value;
    refuse(textErrors(value, data));
    if (type === 'query') refuse(repeatedParameters(value));
    if (metatype === undefined || !isDeclared(metatype)) return value;
    if (value !== undefined && !isPlainObject(value))
      throw invalidRequest([{ field: type, message: 'must be a JSON object' }]);
    // Most requests have no query. Validating an empty query would take a tenth of the CPU time of a request (`npm run bench -- api`).
    const isEmpty = Object.keys(value ?? {}).length === 0;
    if (isEmpty && this.fineWhenEmpty.has(metatype)) return new metatype();
    const collected = collectByKey(value ?? {}, metatype);
    refuse(shapeErrors(collected, metatype));
    // A reserved name may stand behind a prefix, as in `metadata.constructor`.
    if (collected !== value) refuse(textErrors(collected));
    return this.instantiate(metatype, collected, isEmpty);
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

/** Keeps the parsed value of a property. class-transformer would drop names such as `valueOf` from a free-form object. */
export const AsParsed = (): PropertyDecorator =>
  Transform(({ obj, key }: { obj: Record<string, unknown>; key: string }) => obj[key]);

/** Reads a property that was sent as text. `read` returns text that has another form unchanged, so that validation refuses it. */
export const ReadText = (read: (text: string) => unknown): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? read(value) : value));

export const readFlag = (text: string) => (text === 'true' || text === 'false' ? text === 'true' : text);

/** Checks a property with a pure function. The function returns what is wrong with the value, or undefined. */
export const CheckedBy = (faultOf: (value: unknown) => string | undefined): PropertyDecorator =>
  ValidateBy({
    name: faultOf.name,
    validator: {
      validate: (value) => faultOf(value) === undefined,
      defaultMessage: (args) => faultOf(args?.value) ?? '',
    },
  });

/** Makes a property optional. Unlike IsOptional it refuses null, for properties where null could only be a mistake. */
export const MayBeAbsent = (): PropertyDecorator => ValidateIf((_object, value) => value !== undefined);

const KEYED = Symbol('the property that collects query parameters by key');

/** Declares the query parameters `<property>.<key>`: the property becomes an object with their values. A key may contain dots. */
export const KeyedParameters = (): PropertyDecorator => (prototype, property) =>
  Reflect.defineMetadata(KEYED, property, prototype);

/** Returns the query, with the keyed parameters of `metatype` as one object: `metadata.a=1` becomes `{ metadata: { a: '1' } }`. */
function collectByKey(query: object, metatype: Type): object {
  const property = Reflect.getMetadata(KEYED, metatype.prototype as object) as string | undefined;
  if (property === undefined || property in query) return query;
  const prefix = `${property}.`;
  const isKeyed = ([name]: [string, unknown]) => name.startsWith(prefix) && name !== prefix;
  const parameters: [string, unknown][] = Object.entries(query);
  const keyed = parameters.filter(isKeyed).map(([name, value]) => [name.slice(prefix.length), value]);
  if (keyed.length === 0) return query;
  const others = Object.fromEntries(parameters.filter((each) => !isKeyed(each)));
  return { ...others, [property]: Object.fromEntries(keyed) as unknown };
}

/**
 * Refuses query parameters on a route that declares none, where a filter would silently have no effect. Public routes ignore them, because
 * health probes and browsers add some. Not an interceptor: Nest's observables would take a quarter of the CPU of reading a session.
 */
export class RefuseUnreadQuery implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { query, routeOptions } = context.switchToHttp().getRequest<FastifyRequest>();
    const names = Object.keys(query as object);
    const reads = (): boolean =>
      readsQuery(context.getClass().prototype as object, context.getHandler().name);
    if (names.length > 0 && !routeOptions.config.isPublic && !reads())
      refuse(names.map((field) => ({ field, message: UNKNOWN_NAME })));
    return true;
  }
}

export function refuse(errors: readonly FieldError[], code?: ProblemCode): void {
  if (errors.length > 0) throw invalidRequest(errors, code);
}

export function invalidRequest(
  errors: readonly FieldError[],
  code: ProblemCode = 'invalid_request',
): Problem {
  const shown = errors
    .slice(0, MAX_ERRORS)
    .map(({ field, ...error }) => ({ field: field.slice(0, MAX_FIELD_LENGTH), ...error }));
  const said = shown.slice(0, DETAILED_ERRORS).map(({ field, message }) => `${field} ${message}`);
  const more = errors.length > DETAILED_ERRORS ? `; and ${errors.length - DETAILED_ERRORS} more` : '';
  return new Problem(code, said.join('; ') + more, { errors: shown });
}

const isDeclared = (metatype: NonNullable<ArgumentMetadata['metatype']>): boolean =>
  ![String, Boolean, Number, Array, Object, Date].some((builtIn) => builtIn === metatype);

export const isPlainObject = (value: unknown): value is object =>
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

/** Returns the message of the last constraint: the type check. It is the topmost decorator, and decorators apply from the bottom up. */
function messageOf({ property, value }: ValidationError, constraints: Record<string, string>): string {
  if (value === undefined) return 'is required';
  // class-validator always adds the check for a nested object last.
  const { nestedValidation, ...own } = constraints;
  const [rule, message] = Object.entries(own).at(-1) ?? ['nestedValidation', nestedValidation ?? ''];
  // class-validator starts its messages with the property's name, which `field` contains already.
  const said = message.startsWith(`${property} `) ? message.slice(property.length + 1) : message;
  return MESSAGES.get(rule) ?? said;
}

import type { Type } from '@nestjs/common';
import { ARRAY_MAX_SIZE, getMetadataStorage } from 'class-validator';
import type { FieldError } from '../problem/problem.js';
import { LosslessNumber } from '../json/lossless.js';

export const UNKNOWN_NAME = 'is not known here';

/** JavaScript gives these names a special meaning, and class-transformer drops them silently. */
const RESERVED_NAMES = ['__proto__', 'constructor'];

/** Returns errors for reserved names, and for NULs and lone surrogates, which PostgreSQL cannot store. `field` is the path of `value`. */
export function textErrors(value: unknown, field = ''): FieldError[] {
  if (typeof value === 'string') return errorsOf(value, field);
  if (typeof value !== 'object' || value === null || value instanceof LosslessNumber) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => textErrors(item, `${field}[${index}]`));
  return Object.entries(value).flatMap(([name, item]) => {
    const path = field === '' ? name : `${field}.${name}`;
    const unusable = errorsOf(name, field || 'a name').concat(
      RESERVED_NAMES.includes(name) ? [{ field: path, message: 'is a name that is not allowed' }] : [],
    );
    return unusable.length > 0 ? unusable : textErrors(item, path);
  });
}

function errorsOf(text: string, field: string): FieldError[] {
  if (text.includes('\0')) return [{ field, message: 'must not contain the character U+0000' }];
  if (!text.isWellFormed()) return [{ field, message: 'must not contain half of a surrogate pair' }];
  return [];
}

/** The most elements of each declared property, by class. */
const declarations = new WeakMap<Type, ReadonlyMap<string, number>>();

/**
 * Returns errors for names that the class does not declare, and for arrays with too many elements. Call it before anything is made of the
 * value: class-transformer and class-validator take far longer for each name and element.
 */
export function shapeErrors(value: object, metatype: Type): FieldError[] {
  const declared = declarations.get(metatype) ?? declarationsOf(metatype);
  declarations.set(metatype, declared);
  return Object.entries(value).flatMap(([field, item]) => {
    const most = declared.get(field);
    if (most === undefined) return [{ field, message: UNKNOWN_NAME }];
    const isTooLong = Array.isArray(item) && item.length > most;
    return isTooLong ? [{ field, message: `must contain no more than ${most} elements` }] : [];
  });
}

function declarationsOf(metatype: Type): ReadonlyMap<string, number> {
  const declared = new Map<string, number>();
  for (const { propertyName, name, constraints } of getMetadataStorage().getTargetValidationMetadatas(
    metatype,
    '',
    false,
    false,
  )) {
    const most = name === ARRAY_MAX_SIZE ? Number(constraints[0]) : Infinity;
    declared.set(propertyName, Math.min(most, declared.get(propertyName) ?? Infinity));
  }
  return declared;
}

/** Returns errors for inherited names such as `toString`, which class-transformer drops from a DTO. Free-form data may use such names. */
export function inheritedNames(value: unknown, instance: unknown, path = ''): FieldError[] {
  if (Array.isArray(value) && Array.isArray(instance))
    return value.flatMap((item, index) => inheritedNames(item, instance[index], `${path}[${index}]`));
  if (!isObject(value) || !isDto(instance)) return [];
  return Object.keys(value).flatMap((name) => {
    const field = path === '' ? name : `${path}.${name}`;
    if (name in Object.prototype) return [{ field, message: UNKNOWN_NAME }];
    return inheritedNames(value[name], instance[name], field);
  });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

function isDto(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && prototype !== Object.prototype;
}

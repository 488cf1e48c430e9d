import type { Type } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';

/** A field of a JSON object: its schema, and its type, which only the compiler sees. */
export interface Field<T> {
  readonly schema: object;
  readonly type?: T;
}

export type ObjectOf<Fields> = { readonly [K in keyof Fields]: Fields[K] extends Field<infer T> ? T : never };

/**
 * Returns a class that describes a JSON object with these fields. `name`: the name of its schema in the API description. Default: that of the
 * class that extends it.
 */
export function schemaOf<Fields extends Readonly<Record<string, Field<unknown>>>>(
  fields: Fields,
  name = 'Described',
): Type<ObjectOf<Fields>> {
  const { [name]: described } = { [name]: class {} };
  for (const [field, { schema }] of Object.entries(fields))
    ApiProperty(schema)(described!.prototype as object, field);
  return described as Type<ObjectOf<Fields>>;
}

type Resource<Kind, Fields> = ObjectOf<Fields> & { readonly object: Kind };

/** As schemaOf, for a resource: its field `object` is the word `kind`. The method `of` of the class returns the resource with these fields. */
export function resourceOf<
  const Kind extends string,
  Fields extends Readonly<Record<string, Field<unknown>>>,
>(kind: Kind, fields: Fields) {
  const described = schemaOf({ object: oneOf([kind], 'The kind of resource'), ...fields });
  const of = (given: ObjectOf<Fields>): Resource<Kind, Fields> => ({ object: kind, ...given });
  return Object.assign(described as Type<Resource<Kind, Fields>>, { of });
}

export const field = <T>(schema: object, description?: string): Field<T> => ({
  schema: { ...schema, ...(description !== undefined && { description }) },
});
export const nullable = <T>(of: Field<T>): Field<T | null> => ({
  ...of,
  schema: { ...of.schema, nullable: true },
});
export const optional = <T>({ schema }: Field<T>): Field<T | undefined> =>
  field({ ...schema, required: false });

/** Marks a field that the command line reads from a file, and shows only as JSON. */
export const SECRET: object = { 'x-secret': true };
/** Marks a secret that no later response has. The command line shows it, and nothing else of the response. */
export const shownOnce = <T>({ schema }: Field<T>): Field<T> => field({ ...schema, 'x-secret': 'once' });
/** Gives a list the columns of its table on the command line: the fields by their titles. */
export const withColumns = <T>({ schema }: Field<T>, columns: Readonly<Record<string, string>>): Field<T> =>
  field({ ...schema, 'x-columns': columns });

export const text = (description?: string) => field<string>({ type: String }, description);
export const texts = (description?: string) => field<readonly string[]>({ type: [String] }, description);
export const uuid = (description?: string) => field<string>({ type: String, format: 'uuid' }, description);
export const instant = (description?: string) =>
  field<Date>({ type: String, format: 'date-time' }, description);
export const number = (description?: string) => field<number>({ type: 'number' }, description);
export const count = (description?: string) => field<number>({ type: 'integer' }, description);
export const flag = (description?: string) => field<boolean>({ type: Boolean }, description);
export const oneOf = <T>(values: readonly T[], description?: string) =>
  field<T>({ enum: values }, description);
/** An object with any fields. */
export const object = <T>(description?: string) =>
  field<T>({ type: 'object', additionalProperties: true }, description);
export const view = <T>(type: Type<T>, description?: string) => field<T>({ type }, description);
export const listOf = <T>(type: Type<T>, description?: string) =>
  field<readonly T[]>({ type: [type] }, description);

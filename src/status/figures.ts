import { field, listOf, schemaOf, view, type Field } from '../platform/openapi/schema-of.js';

interface StatusField<T> extends Field<T> {
  /** The gauge with the value of the field, without the prefix, such as `registrations{status="pending"}`. */
  readonly gauge?: string | undefined;
  /** The fields of an object, or of each object of a list. */
  readonly fields?: StatusFields;
  /** The field of each object of a list whose value becomes the label of the gauges. */
  readonly by?: string;
}
type StatusFields = Readonly<Record<string, StatusField<unknown>>>;

/** The values of the labels, and a number or a time; null if there is none. */
export type Sample = readonly [labels: readonly string[], value: number | Date | null];

export interface Figure<Facts> {
  /** The name of a gauge without the prefix `pv_onboarding_deployment_`. Several figures may be the samples of one gauge. */
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly of: (facts: Facts) => readonly Sample[];
}

// A field with a gauge is also exposed as a metric. The description of the field is the help of the metric.
const figure =
  <T>(schema: object) =>
  (description?: string, gauge?: string): StatusField<T> => ({ ...field<T>(schema, description), gauge });
export const number = figure<number>({ type: 'number' });
export const count = figure<number>({ type: 'integer' });
export const instant = figure<Date>({ type: String, format: 'date-time' });

/** Describes a field that is an object. `name`: the name of its schema in the API description. */
export const part = <F extends StatusFields>(name: string, description: string | null, fields: F) => ({
  ...view(schemaOf(fields, name), description ?? undefined),
  fields,
});

/** Describes a field that is a list of objects. */
export const list = <F extends StatusFields>(name: string, by: string, description: string, fields: F) => ({
  ...listOf(schemaOf(fields, name), description),
  fields,
  by,
});

type Row = Readonly<Record<string, unknown>>;

/** Returns the figures of the fields. `rowsOf` returns the objects with these fields, and the labels of each. */
export function figuresOf<Facts>(
  fields: StatusFields,
  rowsOf: (facts: Facts) => readonly (readonly [labels: readonly string[], row: Row])[],
  labels: readonly string[] = [],
): Figure<Facts>[] {
  return Object.entries(fields).flatMap(([key, { gauge, fields: inner, by, schema }]) => {
    if (inner !== undefined) {
      const innerRowsOf = (facts: Facts) =>
        rowsOf(facts)
          .flatMap(([, row]) => (row[key] ?? []) as Row | readonly Row[])
          .map((row) => [by === undefined ? [] : [String(row[by])], row] as const);
      return figuresOf(inner, innerRowsOf, by === undefined ? [] : [by]);
    }
    const [, name, label, value] = /^(\w+)(?:\{(\w+)="(\w+)"\})?$/.exec(gauge ?? '') ?? [];
    if (name === undefined) return [];
    const { description: help = '' } = schema as { readonly description?: string };
    const of = (facts: Facts): Sample[] =>
      rowsOf(facts).map(([values, row]) => [value === undefined ? values : [value], row[key] as Sample[1]]);
    return label === undefined
      ? { name, help, labels, of }
      : { name, help: `${value}: ${help}`, labels: [label], of };
  });
}

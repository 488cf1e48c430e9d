import { parseInstant } from '../../platform/time/instant.rules.js';

/**
 * Finds where a response differs from the interface description. Only names and types are compared, never values. A name that looks like
 * data (a map keyed by an address, an EAN, a token) becomes `*`. A difference is not an error: the readers decide whether a response is
 * usable.
 */
export type FieldType = 'string' | 'UUID' | 'timestamp' | 'URL' | 'boolean' | 'number' | 'anything';

/** A field has a type or is a list of objects. */
export interface DocumentedFields {
  readonly [name: string]: FieldType | readonly [DocumentedFields];
}

export interface Drift {
  readonly kind:
    'new_field' | 'missing_field' | 'other_type' | 'undescribed_flags' | 'token_form' | 'foreign_id';
  readonly field: string;
  readonly expected: string | null;
  readonly found: string | null;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Matches names of fields, but not names of customers, addresses or numbers. */
const FIELD_NAME = /^(?!.*\d{4})[A-Za-z_$][A-Za-z0-9_$-]{0,39}$/;
/** Bound per response; a response with more differences is something else altogether. */
const MOST = 20;
/** Bound per list: a difference that first appears after this many elements is not worth finding. */
const EXAMINED_ELEMENTS = 100;
/** Bound per object, for the same reason. */
const EXAMINED_FIELDS = 1_000;

export function findDrift(value: unknown, documented: DocumentedFields): Drift[] {
  const found = new Map<string, Drift>();
  compareObject('', value, documented, (drift) => {
    if (found.size < MOST) found.set(`${drift.kind} ${drift.field}`, drift);
  });
  return [...found.values()];
}

/**
 * Returns the drift for an id or a reference in `field` (a path such as `gridLocations[].id`) that belongs to another object. `owner`
 * describes that object without a value, or is null if it is unknown.
 */
export const foreignId = (field: string, owner: string | null = null): Drift => ({
  kind: 'foreign_id',
  field,
  expected: null,
  found: owner,
});

type Report = (drift: Drift) => void;

function compareObject(path: string, value: unknown, documented: DocumentedFields, report: Report): void {
  if (typeOf(value) !== 'object') {
    report({
      kind: 'other_type',
      field: path === '' ? 'body' : path,
      expected: 'object',
      found: typeOf(value),
    });
    return;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);
  for (const [name, expected] of Object.entries(documented)) {
    if (Object.hasOwn(fields, name)) compareField(at(name), fields[name], expected, report);
    else report({ kind: 'missing_field', field: at(name), expected: nameOf(expected), found: null });
  }
  for (const name of Object.keys(fields).slice(0, EXAMINED_FIELDS)) {
    if (Object.hasOwn(documented, name)) continue;
    const field = at(FIELD_NAME.test(name) ? name : '*');
    report({ kind: 'new_field', field, expected: null, found: typeOf(fields[name]) });
  }
}

function compareField(
  field: string,
  value: unknown,
  expected: DocumentedFields[string],
  report: Report,
): void {
  if (typeof expected !== 'string' && Array.isArray(value)) {
    for (const element of value.slice(0, EXAMINED_ELEMENTS))
      compareObject(`${field}[]`, element, expected[0], report);
  } else if (!isOfType(value, expected)) {
    report({ kind: 'other_type', field, expected: nameOf(expected), found: foundInstead(value, expected) });
  }
}

function foundInstead(value: unknown, expected: DocumentedFields[string]): string {
  if (typeof value !== 'string' || baseOf(expected) !== 'string') return typeOf(value);
  const isInAnotherYear = expected === 'timestamp' && parseInstant(value, 'remote').kind === 'outside';
  return isInAnotherYear ? 'timestamp outside the years 1 to 9999' : 'another string';
}

function isOfType(value: unknown, expected: DocumentedFields[string]): boolean {
  switch (expected) {
    case 'anything':
      return true;
    case 'UUID':
      return typeof value === 'string' && UUID.test(value);
    case 'timestamp':
      return parseInstant(value, 'remote').kind === 'instant';
    case 'URL':
      return typeof value === 'string' && URL.canParse(value);
    case 'string':
    case 'boolean':
    case 'number':
      return typeof value === expected;
  }
  return false;
}

const nameOf = (expected: DocumentedFields[string]): string =>
  typeof expected === 'string' ? expected : 'array';

const baseOf = (expected: DocumentedFields[string]): string =>
  expected === 'UUID' || expected === 'timestamp' || expected === 'URL' ? 'string' : nameOf(expected);

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

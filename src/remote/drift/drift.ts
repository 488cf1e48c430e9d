import { parseInstant } from '../../platform/time/instant.rules.js';

/**
 * Where an answer differs from what the interface describes. Only names and types are looked at, never values; a name that looks
 * like data (a map keyed by an address, an EAN, a token) becomes `*`. What is found is no error: the readers decide what an answer
 * is good for.
 */
export type FieldType = 'string' | 'UUID' | 'timestamp' | 'URL' | 'boolean' | 'number' | 'anything';

/** A field is of a type, or a list of objects. */
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
/** As fields are named, and not as customers, addresses and numbers are. */
const FIELD_NAME = /^(?!.*\d{4})[A-Za-z_$][A-Za-z0-9_$-]{0,39}$/;
/** Of one answer; one that differs in more is of another kind altogether. */
const MOST = 20;
/** Of one list: what the hundredth element has in common with none before is not worth looking for. */
const EXAMINED_ELEMENTS = 100;
/** Of one object, likewise. */
const EXAMINED_FIELDS = 1_000;

export function findDrift(value: unknown, documented: DocumentedFields): Drift[] {
  const found = new Map<string, Drift>();
  compareObject('', value, documented, (drift) => {
    if (found.size < MOST) found.set(`${drift.kind} ${drift.field}`, drift);
  });
  return [...found.values()];
}

/** An id or a reference in `field` (a path such as `gridLocations[].id`) that belongs to `owner`, words without a value, if that is known. */
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

import { LosslessNumber } from '../platform/json/lossless.js';
import { parseInstant } from '../platform/time/instant.rules.js';
import { isUuid } from '../platform/uuid.rules.js';
import type { Documented, DocumentedFields, Drift, FieldType } from '../remote/drift.js';
import type { Fields } from '../remote/wire/read-field.js';

/** Matches field names. A key with a space, an @, four digits or more than 31 characters may be personal data or a token. */
const FIELD_NAME = /^(?!(?:\D*\d){4})[A-Za-z_$][A-Za-z0-9_$-]{0,30}$/;
const MAX_DRIFTS_PER_RESPONSE = 20;
const MAX_COMPARED_ELEMENTS = 100;
const MAX_COMPARED_FIELDS = 1_000;

/** Returns how a response differs from its description in field names and types. A name that may be personal data becomes `*`. */
export function findDrift(value: unknown, documented: DocumentedFields): Drift[] {
  const found = new Map<string, Drift>();
  compareObject('', value, documented, (drift) => {
    if (found.size < MAX_DRIFTS_PER_RESPONSE) found.set(`${drift.kind} ${drift.field}`, drift);
  });
  return [...found.values()];
}

type Report = (drift: Drift) => void;

function compareObject(path: string, value: unknown, documented: DocumentedFields, report: Report): void {
  if (typeOf(value) !== 'object')
    return report({ kind: 'other_type', field: path || 'body', expected: 'object', found: typeOf(value) });
  const fields = value as Fields;
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);
  for (const [name, expected] of Object.entries(documented)) {
    if (Object.hasOwn(fields, name)) compareField(at(name), fields[name], expected, report);
    else report({ kind: 'missing_field', field: at(name), expected: nameOf(expected), found: null });
  }
  for (const name of Object.keys(fields).slice(0, MAX_COMPARED_FIELDS)) {
    if (Object.hasOwn(documented, name)) continue;
    const field = at(FIELD_NAME.test(name) ? name : '*');
    report({ kind: 'new_field', field, expected: null, found: typeOf(fields[name]) });
  }
}

function compareField(field: string, value: unknown, expected: Documented, report: Report): void {
  if (typeof expected !== 'string' && Array.isArray(value)) {
    for (const element of value.slice(0, MAX_COMPARED_ELEMENTS))
      compareObject(`${field}[]`, element, expected[0], report);
  } else if (typeof expected !== 'string' || !IS_OF_TYPE[expected](value)) {
    report({ kind: 'other_type', field, expected: nameOf(expected), found: foundInstead(value, expected) });
  }
}

function foundInstead(value: unknown, expected: Documented): string {
  if (typeof value !== 'string') return typeOf(value);
  if (expected === 'timestamp' && parseInstant(value, 'remote').kind === 'outside')
    return 'timestamp outside the years 1 to 9999';
  return expected === 'UUID' || expected === 'timestamp' || expected === 'URL' ? 'another string' : 'string';
}

const IS_OF_TYPE: Readonly<Record<FieldType, (value: unknown) => boolean>> = {
  anything: () => true,
  string: (value) => typeof value === 'string',
  UUID: isUuid,
  timestamp: (value) => parseInstant(value, 'remote').kind === 'instant',
  URL: (value) => typeof value === 'string' && URL.canParse(value),
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeOf(value) === 'number',
};

const nameOf = (expected: Documented): string => (typeof expected === 'string' ? expected : 'array');

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (value instanceof LosslessNumber) return 'number';
  return Array.isArray(value) ? 'array' : typeof value;
}

import { applyDecorators } from '@nestjs/common';
import * as by from '../platform/list/filters.js';
import type { Condition, Filter } from '../platform/list/list.js';
import { Field } from '../platform/http/field.js';
import { AsParsed, KeyedParameters } from '../platform/http/validation.js';
import { isPlainObject, metadataFault, type Metadata } from './metadata.rules.js';

/** Limits the number of conditions in a query, and so the time that PostgreSQL needs to plan it. */
const MAX_KEYS = 10;

type MetadataFilter = Readonly<Record<string, string>>;

export const MetadataField = (documentation: {
  description: string;
  example?: Metadata;
}): PropertyDecorator =>
  applyDecorators(
    AsParsed(),
    Field({ type: 'object', additionalProperties: true, ...documentation, faultOf: metadataFault }),
  );

function MetadataParameters(): PropertyDecorator {
  return applyDecorators(
    // By default, an OpenAPI client sends each property of this object as a separate query parameter.
    Field({
      type: 'object',
      patternProperties: { '^metadata\\..': { type: 'string' } },
      additionalProperties: false,
      example: { 'metadata.campaign': 'autumn' },
      description:
        'Only items whose metadata contain all these values: `metadata.campaign=autumn`. Only top-level keys can be given. `5`, `true` and ' +
        '`null` match the JSON value and the text.',
      faultOf: metadataFilterFault,
    }),
    KeyedParameters(),
    AsParsed(),
  );
}

function metadataFilterFault(value: unknown): string | undefined {
  if (!isPlainObject(value)) return 'must be given by key, as metadata.<key>=<value>';
  const count = Object.keys(value).length;
  return count > MAX_KEYS ? `must have at most ${MAX_KEYS} keys, not ${count}` : undefined;
}

/** The filter `metadata.<key>` of a list. For each key, `column` contains the value as text, or as the JSON value of that text. */
export const metadataFilter = (column: string): Filter<MetadataFilter> =>
  by.parameter(MetadataParameters(), (values) => containsMetadata(column, values));

// A GIN index on the column makes this fast.
function containsMetadata(column: string, values: MetadataFilter): Condition[] {
  return Object.entries(values).map(([key, text]) => {
    const objects = [text, ...jsonScalar(text)].map((value) => JSON.stringify({ [key]: value }));
    return [`${column} @> ANY (?::jsonb[])`, objects];
  });
}

// Stored metadata contain numbers only as JSON.stringify writes them, so any other text is not read as a number.
function jsonScalar(text: string): unknown[] {
  const isNumber = Number.isFinite(Number(text)) && String(Number(text)) === text;
  return isNumber || ['true', 'false', 'null'].includes(text) ? [JSON.parse(text)] : [];
}

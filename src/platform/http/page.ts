import { IsOptional, IsString } from 'class-validator';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Problem } from '../problem/problem.js';
import { parseInstant } from '../time/instant.rules.js';
import { IntegerParameter } from './validation.js';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

/** The paging parameters of every list; extend it with the filters of a list. */
export class PageQuery {
  @ApiPropertyOptional({
    description: 'How many items at most',
    minimum: 1,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
    type: 'integer',
  })
  @IntegerParameter({ min: 1, max: MAX_LIMIT })
  limit: number = DEFAULT_LIMIT;

  @ApiPropertyOptional({
    description: 'The `next` of the page before; without it, the first page',
    type: String,
  })
  @IsOptional()
  @IsString()
  cursor?: string;
}

export interface Page<T> {
  readonly items: T[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next: string | null;
}

const CURSOR_VALUES = {
  uuid: (text: string) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text),
  instant: (text: string) => /T.{8}\.\d{3}Z$/.test(text) && parseInstant(text).kind === 'instant',
  integer: (text: string) => /^\d{1,18}$/.test(text),
} as const;

export type CursorValue = keyof typeof CURSOR_VALUES;

/** Encodes the sort values of the last row of a page as a cursor, opaque to the caller. */
export function encodeCursor(values: readonly unknown[]): string {
  const texts = values.map((value) => (value instanceof Date ? value.toISOString() : String(value)));
  return Buffer.from(JSON.stringify(texts)).toString('base64url');
}

/**
 * Returns the sort values in a cursor, as text: an `instant` is ISO 8601 in UTC with milliseconds. Returns undefined without a cursor.
 * Throws Problem invalid_request naming `cursor` if it is not a cursor that `encodeCursor` makes for this shape.
 */
export function decodeCursor<const Shape extends readonly CursorValue[]>(
  cursor: string | undefined,
  shape: Shape,
): { readonly [Index in keyof Shape]: string } | undefined {
  if (cursor === undefined) return undefined;
  const values = readArray(cursor);
  const fits =
    values?.length === shape.length &&
    shape.every((kind, index) => {
      const value = values[index];
      return typeof value === 'string' && CURSOR_VALUES[kind](value);
    });
  if (!fits) {
    const message = 'must be the `next` of a page of this list';
    throw new Problem('invalid_request', `cursor ${message}`, { errors: [{ field: 'cursor', message }] });
  }
  return values as { readonly [Index in keyof Shape]: string };
}

/**
 * Returns a page of rows that were read with a limit one higher than the page's, which shows whether it is the last page. `cursorOf`
 * returns the values by which the rows are ordered.
 */
export function toPage<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (row: Row) => readonly unknown[],
): Page<Row> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last !== undefined ? encodeCursor(cursorOf(last)) : null };
}

function readArray(cursor: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

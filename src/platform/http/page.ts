import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsObject, IsOptional } from 'class-validator';
import type { ListPosition } from '../database/list-position.js';
import { parseInstant } from '../time/instant.rules.js';
import { IntegerParameter } from './parameters.js';

export class LimitQuery {
  @IntegerParameter({ minimum: 1, maximum: 200, default: 50, description: 'Maximum number of items' })
  limit: number = 50;
}

/** Decoders of the values in a cursor. They return undefined for text that no cursor of ours contains. */
const CURSOR_VALUES = {
  uuid: (text: string) => (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text) ? text : undefined),
  instant: (text: string) => {
    const read = parseInstant(text);
    return /T.{8}\.\d{3}Z$/.test(text) && read.kind === 'instant' ? read.at : undefined;
  },
  integer: (text: string) => (/^\d{1,18}$/.test(text) ? text : undefined),
} as const;

/** The sort values in a cursor, in their order. An `instant` is decoded to a Date, the others stay text. */
type CursorShape = Readonly<Record<string, keyof typeof CURSOR_VALUES>>;

/** Declares the optional parameter `cursor` of a list: decodes the cursors that `toPage` makes, and refuses all others. */
export function CursorOf(shape: CursorShape): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({
      description: 'The `next` of the previous page. Default: the first page',
      type: String,
    }),
    Transform(({ value }: { value: unknown }) => decodeCursor(value, shape)),
    IsOptional(),
    IsObject({ message: '$property must be the `next` of a page of this list' }),
  );
}

/** The paging parameters of a list ordered by an instant and an id. */
export class PageQuery extends LimitQuery {
  @CursorOf({ at: 'instant', id: 'uuid' })
  cursor?: ListPosition;
}

export interface Page<T> {
  readonly items: T[];
  readonly next: string | null;
}

/** Returns a page of rows of which one more than `limit` was read. `cursorOf` returns a row's sort values, `toView` its item (default: the row). */
export function toPage<Row, View = Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (row: Row) => readonly unknown[],
  toView = (row: Row) => row as unknown as View,
): Page<View> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  if (rows.length <= limit || last === undefined) return { items: items.map(toView), next: null };
  const texts = cursorOf(last).map((value) => (value instanceof Date ? value.toISOString() : String(value)));
  return { items: items.map(toView), next: Buffer.from(JSON.stringify(texts)).toString('base64url') };
}

/** Decodes a cursor to an object with its sort values. Returns an invalid cursor unchanged, so that validation refuses it. */
function decodeCursor(cursor: unknown, shape: CursorShape): unknown {
  const texts = readArray(cursor);
  const values = Object.entries(shape).map(([name, kind], index) => {
    const text = texts[index];
    return [name, typeof text === 'string' ? CURSOR_VALUES[kind](text) : undefined] as const;
  });
  const fits = texts.length === values.length && values.every(([, value]) => value !== undefined);
  return fits ? Object.fromEntries(values) : cursor;
}

function readArray(cursor: unknown): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor as string, 'base64url').toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

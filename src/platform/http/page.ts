import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsObject, IsOptional } from 'class-validator';
import { parseInstant } from '../time/instant.rules.js';
import { IntegerParameter } from './parameters.js';

export class LimitQuery {
  @IntegerParameter({ minimum: 1, maximum: 200, default: 50, description: 'Maximum number of items' })
  limit: number = 50;
}

/** The types of the values in a cursor, by kind. An integer stays text, since it may exceed a double. */
export interface CursorValue {
  readonly uuid: string;
  readonly instant: Date;
  readonly integer: string;
}

/** Decoders of the values in a cursor. They return undefined for text that no cursor of ours contains. */
const CURSOR_VALUES: { readonly [K in keyof CursorValue]: (text: string) => CursorValue[K] | undefined } = {
  uuid: (text: string) => (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text) ? text : undefined),
  instant: (text: string) => {
    const read = parseInstant(text);
    return /T.{8}\.\d{3}Z$/.test(text) && read.kind === 'instant' ? read.at : undefined;
  },
  integer: (text: string) => (/^\d{1,18}$/.test(text) ? text : undefined),
};

/** The sort values in a cursor, in their order. */
type CursorShape = Readonly<Record<string, keyof CursorValue>>;

/** Declares the optional parameter `cursor` of a list: decodes the cursors that `toPage` makes for it, and refuses all others. */
export function CursorOf(list: string, shape: CursorShape): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({
      description: 'The `next` of the previous page. Default: the first page',
      type: String,
    }),
    Transform(({ value }: { value: unknown }) => decodeCursor(value, list, shape)),
    IsOptional(),
    IsObject({ message: '$property must be the `next` of a page of this list' }),
  );
}

export interface Page<T> {
  readonly items: T[];
  readonly next: string | null;
}

/** Returns a page of rows of which one more than `limit` was read. `positionOf` returns the sort values of a row of the list. */
export function toPage<Row>(
  list: string,
  rows: readonly Row[],
  limit: number,
  positionOf: (row: Row) => readonly unknown[],
): Page<Row> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  if (rows.length <= limit || last === undefined) return { items, next: null };
  const texts = positionOf(last).map((value) =>
    value instanceof Date ? value.toISOString() : String(value),
  );
  return { items, next: Buffer.from(JSON.stringify([list, ...texts])).toString('base64url') };
}

export const mapPage = <Row, View>({ items, next }: Page<Row>, toView: (row: Row) => View): Page<View> => ({
  items: items.map((row) => toView(row)),
  next,
});

/** Decodes a cursor to an object with its sort values. Returns an invalid cursor unchanged, so that validation refuses it. */
function decodeCursor(cursor: unknown, list: string, shape: CursorShape): unknown {
  const [name, ...texts] = readArray(cursor);
  const values = Object.entries(shape).map(([name, kind], index) => {
    const text = texts[index];
    return [name, typeof text === 'string' ? CURSOR_VALUES[kind](text) : undefined] as const;
  });
  const fits =
    name === list && texts.length === values.length && values.every(([, value]) => value !== undefined);
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

export const pageSchemaOf = (item: Type) => ({
  type: 'object',
  required: ['items', 'next'],
  properties: {
    items: { type: 'array', items: { $ref: getSchemaPath(item) } },
    next: {
      type: 'string',
      nullable: true,
      description: 'The `cursor` of the next page; null when this is the last',
    },
  },
});

/** Documents a route whose response is a cursor-paged list of `item`. */
export const ApiPage = (item: Type): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(item),
    ApiOkResponse({
      description: 'One page. To get the next page, send `next` as `cursor`, until it is null',
      schema: pageSchemaOf(item),
    }),
  );

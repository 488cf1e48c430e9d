import { parseLossless, RepeatedName } from '../../platform/json/lossless.js';
import { parseInstant } from '../../platform/time/instant.rules.js';
import { isUuid } from '../../platform/uuid.rules.js';
import { UnreadableResponse } from './read-response.js';

/** The deepest nesting that is parsed. Documented responses have 3 levels. At 50,000 levels, recursion would overflow the stack. */
const MAX_DEPTH = 64;
/** The maximum of objects, arrays and commas. A 1 MB body of inverters has 46,000. Parsing 500,000 would block for half a second. */
const MAX_PARTS = 50_000;

export type Fields = Readonly<Record<string, unknown>>;

/** Returns the body as an object with all digits of its numbers, or throws UnreadableResponse. */
export function readObject(body: string): Fields {
  refuseShape(body);
  let value: unknown;
  try {
    value = parseLossless(body);
  } catch (error) {
    // Do not include the parser's message: it quotes the body.
    const fault = error instanceof RepeatedName ? 'has an object with two values of one name' : 'is not JSON';
    throw new UnreadableResponse(`the body ${fault}`);
  }
  return asObject('the body', value);
}

export function asObject(name: string, value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UnreadableResponse(`${name} is not an object`);
  }
  return value as Fields;
}

export const readArray = readerOf((value): value is readonly unknown[] => Array.isArray(value), 'an array');
export const readBoolean = readerOf((value) => typeof value === 'boolean', 'true or false');
const readText = readerOf((value) => typeof value === 'string', 'a string');
const readId = readerOf(isUuid, 'a UUID');

/** Reads text that PostgreSQL can store: no NUL, no lone surrogate. */
export function readString(object: Fields, field: string): string {
  const value = readText(object, field);
  if (/[\0\p{Cs}]/u.test(value)) throw new UnreadableResponse(`${field} holds a NUL or a lone surrogate`);
  return value;
}

/** Reads a UUID and returns it in lower case, as PostgreSQL writes it, so that ids compare as text. */
export const readUuid = (object: Fields, field: string): string => readId(object, field).toLowerCase();

/** Reads an ISO 8601 timestamp with Z or an offset. Outside the years 1 to 9999, returns the nearest valid instant (see drift.ts). */
export function readInstant(object: Fields, field: string): Date {
  const read = parseInstant(own(object, field), 'remote');
  if (read.kind === 'none')
    throw new UnreadableResponse(`${field} is not an ISO 8601 timestamp with an offset or Z`);
  return read.kind === 'instant' ? read.at : read.nearest;
}

function readerOf<T>(isOfType: (value: unknown) => value is T, type: string) {
  return (object: Fields, field: string): T => {
    const value = own(object, field);
    if (!isOfType(value)) throw new UnreadableResponse(`${field} is not ${type}`);
    return value;
  };
}

const own = (object: Fields, field: string): unknown =>
  Object.hasOwn(object, field) ? object[field] : undefined;

/** Throws if the body is nested too deep or has too many parts. Counts brackets and commas outside strings, before any parser runs. */
function refuseShape(text: string): void {
  let depth = 0;
  let parts = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === 0x5c) i++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x2c) parts++;
    else if (code === 0x7b || code === 0x5b) {
      parts++;
      if (++depth > MAX_DEPTH) throw new UnreadableResponse(`the body is nested deeper than ${MAX_DEPTH}`);
    } else if (code === 0x7d || code === 0x5d) depth--;
    if (parts > MAX_PARTS) throw new UnreadableResponse(`the body has more than ${MAX_PARTS} parts`);
  }
}

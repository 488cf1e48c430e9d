import { parseInstant } from '../../platform/time/instant.rules.js';
import { UnreadableAnswer } from './read-response.js';

/** Strict readers for bodies of the remote service. Each error names the field and the expectation, never the value. */

/** Documented responses nest 3 deep; recursion over 50,000 levels would overflow the stack of code that walks the value. */
const MAX_DEPTH = 64;
/**
 * Counts objects, arrays, and what follows a comma. The largest body full of inverters has 46,000. Ten times as many parts, empty arrays
 * within arrays, block the event loop for half a second.
 */
const MAX_PARTS = 50_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export type Fields = Readonly<Record<string, unknown>>;

/** Reads the body as an object; throws UnreadableAnswer. Default: JSON.parse. Pass a lossless codec where digits matter (an EAN has 18). */
export function readObject(body: string, parse: (text: string) => unknown = JSON.parse): Fields {
  // RFC 8259 lets a parser ignore a byte order mark; JSON.parse does not.
  const text = body.charCodeAt(0) === 0xfeff ? body.slice(1) : body;
  refuseShape(text);
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    // The parser's message quotes the text.
    throw new UnreadableAnswer('the body is not JSON');
  }
  return asObject('the body', value);
}

export function asObject(name: string, value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UnreadableAnswer(`${name} is not an object`);
  }
  return value as Fields;
}

export function readArray(object: Fields, field: string): readonly unknown[] {
  const value = own(object, field);
  if (!Array.isArray(value)) throw new UnreadableAnswer(`${field} is not an array`);
  return value;
}

export function readBoolean(object: Fields, field: string): boolean {
  const value = own(object, field);
  if (typeof value !== 'boolean') throw new UnreadableAnswer(`${field} is not true or false`);
  return value;
}

/** Reads text that PostgreSQL can store: no NUL, no lone surrogate. */
export function readString(object: Fields, field: string): string {
  const value = own(object, field);
  if (typeof value !== 'string') throw new UnreadableAnswer(`${field} is not a string`);
  if (/[\0\p{Cs}]/u.test(value)) throw new UnreadableAnswer(`${field} holds a NUL or a lone surrogate`);
  return value;
}

/** Reads a UUID and returns it in lower case, as PostgreSQL writes it, so that ids compare as text. */
export function readUuid(object: Fields, field: string): string {
  const value = own(object, field);
  if (typeof value !== 'string' || !UUID.test(value)) throw new UnreadableAnswer(`${field} is not a UUID`);
  return value.toLowerCase();
}

/**
 * Reads ISO 8601 with Z or an offset; without one the instant would depend on the reader's clock. Returns the first or last valid instant
 * for one before the year 1 or after the year 9999; drift.ts reports it.
 */
export function readInstant(object: Fields, field: string): Date {
  const read = parseInstant(own(object, field), 'remote');
  switch (read.kind) {
    case 'instant':
      return read.at;
    case 'outside':
      return read.nearest;
    case 'none':
      throw new UnreadableAnswer(`${field} is not an ISO 8601 timestamp with an offset or Z`);
  }
}

function own(object: Fields, field: string): unknown {
  return Object.hasOwn(object, field) ? object[field] : undefined;
}

/**
 * Throws if the body is nested too deep or has too many parts. Counts brackets and commas outside strings, in one pass before any parser
 * runs.
 */
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
      if (++depth > MAX_DEPTH) throw new UnreadableAnswer(`the body is nested deeper than ${MAX_DEPTH}`);
    } else if (code === 0x7d || code === 0x5d) depth--;
    if (parts > MAX_PARTS) throw new UnreadableAnswer(`the body has more than ${MAX_PARTS} parts`);
  }
}

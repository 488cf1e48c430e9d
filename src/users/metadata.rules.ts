const MAX_BYTES = 4_096;
const MAX_DEPTH = 8;

/** What a tenant attaches to a user: kept and answered as it came, read by nobody here. */
export type Metadata = Readonly<Record<string, unknown>>;

/**
 * Why `value` is no metadata, or undefined when it is: a JSON object of at most 4,096 bytes, at most 8 levels deep. Text that
 * PostgreSQL cannot hold has been refused before, with every other text of the request.
 */
export function metadataFault(value: unknown): string | undefined {
  if (!isPlainObject(value)) return 'must be a JSON object';
  const fault = partFault(value, 1);
  if (fault !== undefined) return fault;
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return bytes > MAX_BYTES ? `must have at most ${MAX_BYTES} bytes as JSON, not ${bytes}` : undefined;
}

function partFault(value: unknown, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > MAX_DEPTH) return `must be at most ${MAX_DEPTH} levels deep`;
  // The only objects that the body parser makes besides plain ones and arrays are numbers that a double would alter.
  if (!Array.isArray(value) && !isPlainObject(value)) {
    return 'must not contain a number that a double cannot hold exactly; send it as a string';
  }
  for (const part of Object.values(value)) {
    const fault = partFault(part, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** An object as `{…}` in JSON makes it: no array, no number that is kept as text. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  return Object.getPrototypeOf(value) === Object.prototype;
}

import { invisibleFault } from '../platform/spelling.rules.js';

const MAX_BYTES = 4_096;
const MAX_DEPTH = 8;

/** Data that a tenant attaches to a user or a session. It is stored and returned unchanged, never interpreted. */
export type Metadata = Readonly<Record<string, unknown>>;

/** Returns why `value` is not metadata, else undefined. The body parser has already rejected text that PostgreSQL cannot store. */
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
  // Any other object is a LosslessNumber: the body parser creates one for each number that a double would alter.
  if (!Array.isArray(value) && !isPlainObject(value)) {
    return 'must not contain a number that a double cannot hold exactly; send it as a string';
  }
  for (const [key, part] of Object.entries(value)) {
    const ofKey = Array.isArray(value) ? undefined : invisibleFault(key);
    if (ofKey !== undefined) return `must not have a key that ${ofKey}`;
    const fault = partFault(part, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Returns whether `value` is a JSON object: not an array, and not a LosslessNumber. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  return Object.getPrototypeOf(value) === Object.prototype;
}

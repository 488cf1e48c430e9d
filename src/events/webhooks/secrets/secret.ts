import { randomBytes } from 'node:crypto';

/** As Standard Webhooks has it: the prefix, then base64 of the bytes that sign. */
const PREFIX = 'whsec_';
/** What Standard Webhooks asks for. */
const MIN_BYTES = 24;
const MAX_BYTES = 64;
/** As long as the output of the SHA-256 that it is used with; more adds nothing. */
const GENERATED_BYTES = 32;

export function newWebhookSecret(): string {
  return PREFIX + randomBytes(GENERATED_BYTES).toString('base64');
}

/** Why `value` is no secret, or undefined when it is one. Never says what it was. */
export function webhookSecretFault(value: unknown): string | undefined {
  const expected = `must be ${PREFIX} and base64 of ${MIN_BYTES} to ${MAX_BYTES} bytes`;
  if (typeof value !== 'string' || !value.startsWith(PREFIX)) return expected;
  const text = value.slice(PREFIX.length);
  const bytes = Buffer.from(text, 'base64');
  // Node skips what is no base64, and libraries in other languages do not: what does not come out the same would sign otherwise there.
  if (bytes.toString('base64') !== text) return `${expected}, with its padding`;
  return bytes.length < MIN_BYTES || bytes.length > MAX_BYTES
    ? `${expected}, not of ${bytes.length}`
    : undefined;
}

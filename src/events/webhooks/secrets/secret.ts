import { randomBytes } from 'node:crypto';

/** Standard Webhooks: the prefix, then the key bytes in base64. */
const PREFIX = 'whsec_';
/** Limits of Standard Webhooks. */
const MIN_BYTES = 24;
const MAX_BYTES = 64;
/** As long as the output of SHA-256; a longer key adds no security. */
const GENERATED_BYTES = 32;

export function newWebhookSecret(): string {
  return PREFIX + randomBytes(GENERATED_BYTES).toString('base64');
}

/** Returns why `value` is not a secret, or undefined if it is one. Never includes the value. */
export function webhookSecretFault(value: unknown): string | undefined {
  const expected = `must be ${PREFIX} and base64 of ${MIN_BYTES} to ${MAX_BYTES} bytes`;
  if (typeof value !== 'string' || !value.startsWith(PREFIX)) return expected;
  const text = value.slice(PREFIX.length);
  const bytes = Buffer.from(text, 'base64');
  // Node skips characters that are not base64; libraries in other languages do not. A text that does not round-trip would sign
  // differently there.
  if (bytes.toString('base64') !== text) return `${expected}, with its padding`;
  return bytes.length < MIN_BYTES || bytes.length > MAX_BYTES
    ? `${expected}, not of ${bytes.length}`
    : undefined;
}

/** Returns why these keys must not encrypt data in production, or undefined. The keys are base64; the text repeats no key. */
export function weaknessOf(keys: readonly string[]): string | undefined {
  const bytes = keys.map((key) => Buffer.from(key, 'base64'));
  if (bytes.some((key) => key.every((byte) => byte === key[0]))) {
    return 'holds a key that is one byte repeated (openssl rand -base64 32 makes a good one)';
  }
  if (new Set(bytes.map((key) => key.toString('hex'))).size < bytes.length) return 'lists the same key twice';
  return undefined;
}

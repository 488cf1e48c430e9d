export const SECRET_PREFIX = 'whsec_';
/** The key lengths that Standard Webhooks allows. */
const MIN_BYTES = 24;
const MAX_BYTES = 64;
/** Each previous secret adds a signature to every webhook. Four are enough for a script that retries a rotation. */
const MOST_PREVIOUS_SECRETS = 4;

export interface PreviousSecret {
  readonly secret: string;
  readonly until: Date;
}

/** All secrets with which webhooks are signed now. `previous` is ordered newest first. */
interface SigningSecrets {
  readonly secret: string;
  readonly previous: readonly PreviousSecret[];
}

/** Returns the previous secrets after a rotation to `renewed`, newest first. Each keeps its own `until`. An overlap of 0 s drops all. */
export function planRotation(
  { secret, previous }: SigningSecrets,
  renewed: string,
  overlapSeconds: number,
  now: Date,
): readonly PreviousSecret[] {
  if (overlapSeconds === 0) return [];
  const until = new Date(now.getTime() + overlapSeconds * 1_000);
  return [{ secret, until }, ...previous]
    .filter((other) => other.secret !== renewed)
    .slice(0, MOST_PREVIOUS_SECRETS);
}

/** Returns the latest `until`, or null if there are no previous secrets. */
export const lastEndOf = (previous: readonly PreviousSecret[]): Date | null =>
  previous.reduce<Date | null>((last, { until }) => (last === null || until > last ? until : last), null);

/** Returns why `value` is not a valid secret, or undefined if it is one. Never includes the value. */
export function webhookSecretFault(value: unknown): string | undefined {
  const expected = `must be ${SECRET_PREFIX} and base64 of ${MIN_BYTES} to ${MAX_BYTES} bytes`;
  if (typeof value !== 'string' || !value.startsWith(SECRET_PREFIX)) return expected;
  const text = value.slice(SECRET_PREFIX.length);
  const bytes = Buffer.from(text, 'base64');
  // Node skips characters that are not base64. Libraries in other languages do not, so they would sign with another key.
  if (bytes.toString('base64') !== text) return `${expected}, with its padding`;
  return bytes.length < MIN_BYTES || bytes.length > MAX_BYTES
    ? `${expected}, not of ${bytes.length}`
    : undefined;
}

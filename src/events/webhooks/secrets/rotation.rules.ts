/** Each adds a signature to every webhook. Enough for a script that rotates again because it lost the response. */
const MOST_PREVIOUS_SECRETS = 4;

/** A secret that has been rotated. */
export interface PreviousSecret {
  readonly secret: string;
  /** It signs until this time, as returned to the caller that rotated it. */
  readonly until: Date;
}

/** All secrets that currently sign. */
export interface SigningSecrets {
  readonly secret: string;
  /** Newest first. */
  readonly previous: readonly PreviousSecret[];
}

/**
 * Returns the previous secrets that sign besides `renewed`, newest first. A caller that rotates again within the overlap may have
 * lost the last response, so previous secrets continue to sign, each until its own time. An overlap of 0 ends all of them.
 */
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

/** Returns the latest end, or null if there are no previous secrets. */
export const lastEndOf = (previous: readonly PreviousSecret[]): Date | null =>
  previous.reduce<Date | null>((last, { until }) => (last === null || until > last ? until : last), null);

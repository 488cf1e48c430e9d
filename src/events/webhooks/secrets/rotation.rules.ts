/** Each costs a signature of every webhook. Enough for a script that rotates again because it lost the answer. */
const MOST_PREVIOUS_SECRETS = 4;

/** One that was rotated. */
export interface PreviousSecret {
  readonly secret: string;
  /** It signs until then: what whoever rotated it was told. */
  readonly until: Date;
}

/** All that sign. */
export interface SigningSecrets {
  readonly secret: string;
  /** Newest first. */
  readonly previous: readonly PreviousSecret[];
}

/**
 * Which secrets sign beside `renewed`, newest first. Whoever rotates again within the overlap may not have had the last answer, so what
 * signed goes on to sign, each until its own time; an overlap of 0 ends all of it.
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

/** Null when there is none. */
export const lastEndOf = (previous: readonly PreviousSecret[]): Date | null =>
  previous.reduce<Date | null>((last, { until }) => (last === null || until > last ? until : last), null);

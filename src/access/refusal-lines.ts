export const REFUSED_STATUSES = [401, 403, 429] as const;
export type RefusedStatus = (typeof REFUSED_STATUSES)[number];
export type Refused = Readonly<Record<`refused${RefusedStatus}`, number>>;

const LOG_EVERY_MS = 60_000;
export const NONE_REFUSED: Refused = { refused401: 0, refused403: 0, refused429: 0 };

export const addRefused = (a: Refused, b: Refused): Refused => ({
  refused401: a.refused401 + b.refused401,
  refused403: a.refused403 + b.refused403,
  refused429: a.refused429 + b.refused429,
});

interface Line {
  readonly message: string;
  readonly keyId?: string;
}

/** The log lines about refused requests: at most one a minute per key. `now` is in milliseconds of a monotonic clock. */
export class RefusalLines {
  private readonly subjects = new Map<string, { line: Line; refused: Refused; nextAt: number }>();

  /** Counts the refusals of a subject for its next line. */
  add(line: Line, refused: Refused): void {
    const { message, keyId = message } = line;
    const before = this.subjects.get(keyId);
    this.subjects.set(keyId, {
      line,
      refused: addRefused(before?.refused ?? NONE_REFUSED, refused),
      nextAt: before?.nextAt ?? -Infinity,
    });
  }

  /** Returns the lines that are due, and forgets subjects without a refusal since their last line. */
  take(now: number): (Line & Refused)[] {
    const due = [...this.subjects].filter(([, { nextAt }]) => nextAt <= now);
    return due.flatMap(([subject, { line, refused }]) => {
      if (refused === NONE_REFUSED) {
        this.subjects.delete(subject);
        return [];
      }
      this.subjects.set(subject, { line, refused: NONE_REFUSED, nextAt: now + LOG_EVERY_MS });
      return [{ ...line, ...refused }];
    });
  }

  /** Whether `take` has nothing more to return or to forget. */
  get isEmpty(): boolean {
    return this.subjects.size === 0;
  }
}

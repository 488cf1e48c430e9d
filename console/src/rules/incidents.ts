import type { Status } from '../api/client.js';

type Reason = Status['reasons'][number];

export interface Incident {
  readonly cause: Reason;
  /** The reasons that probably follow from the cause. */
  readonly symptoms: readonly Reason[];
}

/** Returns the reasons as incidents, in the order of their causes. */
export const incidentsOf = (reasons: readonly Reason[]): Incident[] =>
  reasons
    .filter(({ followsFrom }) => followsFrom === null)
    .map((cause, index, causes) => ({
      cause,
      // A reason may be present several times, once for each of its subjects.
      symptoms:
        causes.findIndex(({ code }) => code === cause.code) === index
          ? reasons.filter(({ followsFrom }) => followsFrom === cause.code)
          : [],
    }));

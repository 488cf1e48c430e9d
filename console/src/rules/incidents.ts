import type { Status } from '../api/client.js';

type Reason = Status['reasons'][number];

export interface Incident {
  readonly cause: Reason;
  /** The same reason for its other subjects. */
  readonly alike: readonly Reason[];
  /** The reasons that probably follow from the cause. */
  readonly symptoms: readonly Reason[];
}

/** Returns the reasons as incidents, in the order of their causes: one for each code, with what probably follows from it. */
export function incidentsOf(reasons: readonly Reason[]): Incident[] {
  const causes = reasons.filter(({ followsFrom }) => followsFrom === null);
  return [...new Set(causes.map(({ code }) => code))].map((code) => {
    const [cause, ...alike] = causes.filter((each) => each.code === code);
    return { cause: cause!, alike, symptoms: reasons.filter(({ followsFrom }) => followsFrom === code) };
  });
}

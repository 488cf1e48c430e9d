import type { Status, StalledGroup } from '../api/client.js';
import { texts } from '../texts.js';
import { incidentsOf } from './incidents.js';

type Code = Status['reasons'][number]['code'];

/** The known facts about the service: its status, whether the status can be read, and the cases that need a person. */
interface Known {
  readonly status: Status | undefined;
  /** Undefined until they have been read. */
  readonly stalled: readonly StalledGroup[] | undefined;
  /** The time since which every attempt to read the status has failed; null if the last attempt succeeded. */
  readonly unreadSince: Date | null;
}

export interface Verdict {
  readonly tone: 'well' | 'attention' | 'unknown';
  readonly sentence: string;
  /** The time since which the sentence has been true; null if it is unknown. */
  readonly since: Date | null;
  /** The words to show before `since`. */
  readonly sinceWords: string;
}

/**
 * Returns one sentence that says whether all is well. `seenSince`: the time since which this page has seen the same reasons or, if there
 * are none, the earlier time since which the history has none.
 */
export function verdictOf({ status, stalled, unreadSince }: Known, seenSince: Date): Verdict {
  if (unreadSince !== null || status === undefined) {
    const sentence = status === undefined ? texts.verdict.unread : texts.verdict.unreadAndOld;

    return { tone: 'unknown', sentence, since: unreadSince, sinceWords: texts.verdict.since };
  }
  const [first] = status.reasons;
  if (first === undefined) return verdictWithoutReason(stalled, seenSince);
  const more = incidentsOf(status.reasons).length - 1;

  return {
    tone: 'attention',
    sentence: texts.verdict.trouble(first.title, more),
    since: first.since === null ? seenSince : new Date(first.since),
    sinceWords: first.since === null ? texts.verdict.soSince : texts.verdict.since,
  };
}

function verdictWithoutReason(stalled: Known['stalled'], seenSince: Date): Verdict {
  const seen = { since: seenSince, sinceWords: texts.verdict.wellSince };
  if (stalled === undefined)
    return {
      tone: 'unknown',
      sentence: texts.verdict.needsUnread,
      ...seen,
    };
  if (stalled.length === 0) return { tone: 'well', sentence: texts.verdict.well, ...seen };
  const count = stalled.reduce((sum, group) => sum + group.count, 0);
  const times = stalled.flatMap(({ oldest }) => oldest.map(({ since }) => Date.parse(since)));
  return {
    tone: 'attention',
    sentence: texts.verdict.needs(count),
    since: new Date(Math.min(...times)),
    sinceWords: texts.verdict.oldestSince,
  };
}

/** The page with the list of the cases behind a reason. */
export const PAGE_OF: Partial<Record<Code, 'stalled' | 'registrations' | 'webhooks'>> = {
  registrations_uncertain: 'registrations',
  webhooks_failing: 'webhooks',
  webhooks_disabled: 'webhooks',
  sessions_doubtful: 'stalled',
  inverters_shared: 'stalled',
  starts_abandoned: 'stalled',
};

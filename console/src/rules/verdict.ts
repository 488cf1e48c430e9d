import type { Status, StuckGroup } from '../api/client.js';
import { countOf } from '../format/words.js';
import type { Code as PastCode } from './history.js';

type Code = Status['reasons'][number]['code'];

/** The known facts about the service: its status, whether the status can be read, and the cases that need a person. */
interface Known {
  readonly status: Status | undefined;
  /** Undefined until they have been read. */
  readonly stuck: readonly StuckGroup[] | undefined;
  /** The time since which every attempt to read the status has failed; null if the last attempt succeeded. */
  readonly unreadSince: Date | null;
}

export interface Verdict {
  readonly tone: 'well' | 'attention' | 'unknown';
  readonly sentence: string;
  /** The time since which the sentence has been true; null if it is unknown. */
  readonly since: Date | null;
  /** The words to show before `since`. */
  readonly sinceWords: 'Since' | 'Seen so since' | 'The service is seen well since' | 'The oldest since';
}

/**
 * Returns one sentence that says whether all is well. `seenSince`: the time since which this page has seen the same reasons or, if there
 * are none, the earlier time since which the history has none.
 */
export function verdictOf({ status, stuck, unreadSince }: Known, seenSince: Date): Verdict {
  if (unreadSince !== null || status === undefined) {
    const sentence = `The status cannot be read.${status === undefined ? '' : ' What follows is old.'}`;
    return { tone: 'unknown', sentence, since: unreadSince, sinceWords: 'Since' };
  }
  const [first] = status.reasons;
  if (first === undefined) return verdictWithoutReason(stuck, seenSince);
  const more = status.reasons.length - 1;
  const others = more === 0 ? '' : more === 1 ? ' One more is below.' : ` ${more} more are below.`;
  return {
    tone: 'attention',
    sentence: `${titleOf(first.code)}.${others}`,
    since: first.since === null ? seenSince : new Date(first.since),
    sinceWords: first.since === null ? 'Seen so since' : 'Since',
  };
}

function verdictWithoutReason(stuck: Known['stuck'], seenSince: Date): Verdict {
  const seen = { since: seenSince, sinceWords: 'The service is seen well since' } as const;
  if (stuck === undefined)
    return {
      tone: 'unknown',
      sentence: 'The service is well. What needs a person has not been read.',
      ...seen,
    };
  if (stuck.length === 0) return { tone: 'well', sentence: 'All is well.', ...seen };
  const count = stuck.reduce((sum, group) => sum + group.count, 0);
  const times = stuck.flatMap(({ oldest }) => oldest.map(({ since }) => Date.parse(since)));
  return {
    tone: 'attention',
    sentence: `The service is well; ${countOf(count, 'item needs', 'items need')} a person.`,
    since: new Date(Math.min(...times)),
    sinceWords: 'The oldest since',
  };
}

const TITLES: Record<PastCode, string> = {
  database_unavailable: 'The status could not be read: the database was unavailable',
  disk_full: 'The database has no space left',
  tables_locked: 'Our tables are locked in the database',
  connections_used_up: 'The connections to the database are used up',
  no_api: 'No process serves the API',
  requests_fail: 'Requests fail by a fault of ours',
  no_worker: 'No worker runs: no session is read, no event is delivered',
  replicas_vanish: 'Processes vanish',
  credentials_rejected: 'The remote service rejects our credentials',
  remote_degraded: 'The remote service fails',
  remote_slow: 'The remote service is slow',
  held_back_by_remote_service: 'The remote service asks us to wait',
  held_back_by_breaker: 'Calls of the remote service fail and are blocked',
  held_back_by_ceiling: 'Our own limit of requests holds calls back',
  budget_short: 'Sessions are read less often than planned',
  reads_stale: 'Sessions have not been read for too long',
  sessions_overdue: 'Sessions are read late',
  nothing_changes: 'No session has changed for unusually long',
  requests_refused: 'Many requests of the apps are refused',
  starts_fell: 'Unusually few sessions are started',
  events_unsequenced: 'Events wait for their sequence',
  reader_behind: 'Events do not reach a reader',
  broker_failing: 'The message broker accepts no event',
  webhooks_failing: 'Webhook endpoints fail',
  starts_abandoned: 'Starts wait for a worker to end them',
  registrations_uncertain: 'Registrations wait for your decision',
  sessions_doubtful: 'Sessions need a person',
  inverters_shared: 'Inverters are listed for several customers',
  transaction_old: 'An old transaction is open in the database',
  clocks_differ: 'The clocks of processes differ',
  releases_differ: 'Processes of different releases run',
};

/** Returns a reason of the status as a sentence without its full stop. A newer service may have codes that this page does not know. */
export const titleOf = (code: PastCode): string =>
  Object.hasOwn(TITLES, code) ? TITLES[code] : (code as string).replaceAll('_', ' ');

/** The page with the list of the cases behind a reason. */
export const PAGE_OF: Partial<Record<Code, 'stuck' | 'registrations' | 'webhooks'>> = {
  registrations_uncertain: 'registrations',
  webhooks_failing: 'webhooks',
  sessions_doubtful: 'stuck',
  inverters_shared: 'stuck',
  starts_abandoned: 'stuck',
};

import type { Schemas } from '#client/client.js';
import type { StalledItem, Status } from '../api/client.js';
import { texts } from '../texts.js';
import { operationRows, OPERATIONS } from './operations.js';

type Reason = Pick<Status['reasons'][number], 'code'>;

/**
 * Returns what the service itself has tried about a reason, and what came of it, in sentences with instants as the API writes them; null if
 * it tries nothing, or if the status does not tell.
 */
export function triedByService({ code }: Reason, status: Status): string | null {
  const { handlers, webhooks, broker } = status.outbox.readers;
  switch (code) {
    case 'credentials_rejected': {
      const { failures, nextAttemptAt } = status.token;
      return texts.tried.tokenRequests(failures, nextAttemptAt);
    }
    case 'remote_degraded':
    case 'remote_slow':
    case 'held_back_by_breaker':
    case 'held_back_by_remote_service':
    case 'proxy_fails':
      return triedCalls(status);
    case 'webhooks_failing':
      return triedDeliveries(webhooks);
    case 'handlers_failing':
      return triedDeliveries(handlers);
    case 'broker_failing':
      return broker === null ? null : texts.tried.events;
    case 'registrations_uncertain':
      return texts.tried.registrations;
    default:
      return null;
  }
}

function triedDeliveries({
  failing,
  oldestFailingSeconds,
}: {
  failing: number;
  oldestFailingSeconds: number;
}) {
  if (failing === 0) return null;
  return texts.tried.deliveries(failing, oldestFailingSeconds);
}

/** Returns what came of the calls of each operation that is in trouble. */
function triedCalls(status: Status): string | null {
  const tried = operationRows(status)
    .filter(({ health, calls }) => !['healthy', 'unknown'].includes(health) && calls > 0)
    .map(({ name, calls, successShare, lastSuccessAt, heldBack }) => {
      const worked = Math.round(calls * successShare!);
      return texts.tried.calls(OPERATIONS[name], calls, worked, lastSuccessAt, heldBack);
    });
  return tried.length === 0 ? null : tried.join(' ');
}

const MOST_LETTERS = 120;

/** Returns how often and when something that is stalled has been tried, and what came of it last, in words; null if nothing counts that. */
export function triesOf({ evidence }: Pick<StalledItem, 'evidence'>): string | null {
  const { attempts, failures, reads, lastAttemptAt, lastError } = evidence;
  const count = [attempts, failures, reads].find((each) => typeof each === 'number');
  if (count === undefined || count === 0) return null;
  const last = typeof lastAttemptAt === 'string' ? lastAttemptAt : null;
  const outcome = typeof lastError === 'string' ? lastError : null;
  const isLong = outcome !== null && outcome.length > MOST_LETTERS;
  return texts.tried.times(count, last, isLong ? `${outcome.slice(0, MOST_LETTERS)} …` : outcome);
}

type Act = Pick<Schemas['AuditEntryView'], 'at' | 'target' | 'action'>;

/** An act may be shortly before what it led to: a registration that is sent again in vain is stalled anew. */
const BEFORE_MS = 3_600_000;
/** A note is no attempt to end a stall. */
const OTHERS = /^stall\.changed$|\.created$/;

/** Returns the acts on these since each has been stalled. */
export const actsOn = <Each extends Act>(
  items: readonly Pick<StalledItem, 'id' | 'since'>[],
  acts: readonly Each[],
): Each[] => {
  const since = new Map(items.map((each) => [each.id, Date.parse(each.since)]));
  return acts.filter(
    ({ target, at, action }) =>
      !OTHERS.test(action) && Date.parse(at) >= (since.get(target ?? '') ?? Infinity) - BEFORE_MS,
  );
};

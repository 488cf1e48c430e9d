import type { Endpoint, Remedy, Stalled } from '../api/client.js';
import { formatAge, formatSeconds } from '../format/duration.js';
import { countOf } from '../format/words.js';

interface Silence {
  readonly tone: 'well' | 'attention' | 'quiet';
  readonly sentence: string;
  /** The next step of a person; null if nothing has to be done. */
  readonly next: string | null;
}

export const SILENCE_WORDS: Readonly<Record<Silence['tone'], string>> = {
  well: 'works',
  attention: 'fails',
  quiet: 'silent',
};

/** Up to this number of pending events are normal for a moment. */
const FEW_PENDING = 100;

/** Returns how many events wait: those that are pending, or that a disabled endpoint has not read. */
export const waitingOf = ({ pending, unread }: Pick<Endpoint, 'pending' | 'unread'>): number =>
  Math.max(pending, unread);

/** Returns a sentence about the state of an endpoint. Why a stalled one gets nothing, the stall says. */
export function silenceOf(endpoint: Endpoint, now: Date): Silence {
  const { enabled, stalled, failures, failingSince, lastDeliveredAt, pending, types } = endpoint;
  const count = waitingOf(endpoint);
  const waiting = count === 0 ? '' : ` ${countOf(count, 'event')} waiting.`;
  const attention = (sentence: string, next: string | null): Silence => ({
    tone: 'attention',
    sentence,
    next,
  });
  if (stalled !== null) return attention(stalled.text + waiting, stalled.before);
  if (!enabled)
    return {
      tone: 'quiet',
      sentence: `Disabled by a person or an app.${waiting}`,
      next: 'If it is wanted again, enable it. It continues with the event at which it stopped.',
    };
  if (failures > 0) {
    const since =
      failingSince === null
        ? ''
        : ` for ${formatSeconds(Math.max(0, (now.getTime() - Date.parse(failingSince)) / 1_000))}`;
    return attention(
      `Has failed${since}: ${countOf(failures, 'attempt')} without success.${waiting}`,
      'Ask the team of its app about the last answer. What waits is sent again by itself, or at once with Redeliver.',
    );
  }
  if (pending > FEW_PENDING)
    return attention(`Is behind:${waiting}`, 'Ask its app to respond sooner, and to do the work afterwards.');
  const only = types.length === 0 ? '' : ` It only wants ${countOf(types.length, 'type')} of events.`;
  if (lastDeliveredAt === null)
    return {
      tone: 'quiet',
      sentence: `Has received nothing yet: no event that it wants has happened.${only}`,
      next: null,
    };
  const age = formatAge(new Date(lastDeliveredAt), now);
  return { tone: 'well', sentence: `Works; last delivery ${age}.${only}`, next: null };
}

/** Returns what a person can do about an endpoint. One that a person has disabled is not stalled, and can be enabled all the same. */
export function remediesOf({
  id,
  enabled,
  stalled,
}: Pick<Endpoint, 'id' | 'enabled' | 'stalled'>): Pick<Stalled, 'before' | 'remedies'> {
  if (stalled !== null || enabled) return stalled ?? { before: null, remedies: [] };
  const enable: Remedy = {
    operationId: 'changeWebhookEndpoint',
    method: 'PATCH',
    path: `/api/v1/webhook-endpoints/${id}`,
    body: { enabled: true },
    label: 'Enable it',
    confirm: null,
  };
  return { before: null, remedies: [enable] };
}

import type { Endpoint, Remedy, Stalled } from '../api/client.js';
import { formatAge } from '../format/duration.js';
import { texts } from '../texts.js';

interface Silence {
  readonly tone: 'well' | 'attention' | 'quiet';
  readonly sentence: string;
  /** The next step of a person; null if nothing has to be done. */
  readonly next: string | null;
}

/** Up to this number of pending events are normal for a moment. */
const FEW_PENDING = 100;

/** Returns how many events wait: those that are pending, or that a disabled endpoint has not read. */
export const waitingOf = ({ pending, unread }: Pick<Endpoint, 'pending' | 'unread'>): number =>
  Math.max(pending, unread);

/** Returns a sentence about the state of an endpoint. Why a stalled one gets nothing, the stall says. */
export function silenceOf(endpoint: Endpoint, now: Date): Silence {
  const { enabled, stalled, failures, failingSince, lastDeliveredAt, pending, types } = endpoint;
  const count = waitingOf(endpoint);

  const attention = (sentence: string, next: string | null): Silence => ({
    tone: 'attention',
    sentence,
    next,
  });
  if (stalled !== null) return attention(texts.silence.stalled(stalled.text, count), stalled.before);
  if (!enabled)
    return {
      tone: 'quiet',
      sentence: texts.silence.disabled(count),
      next: texts.silence.enableIfWanted,
    };
  if (failures > 0) {
    const seconds =
      failingSince === null ? null : Math.max(0, (now.getTime() - Date.parse(failingSince)) / 1_000);
    return attention(texts.silence.failing(failures, seconds, count), texts.silence.askItsTeam);
  }
  if (pending > FEW_PENDING) return attention(texts.silence.behind(count), texts.silence.askForSpeed);

  if (lastDeliveredAt === null)
    return {
      tone: 'quiet',
      sentence: texts.silence.nothingYet(types.length),
      next: null,
    };
  const age = formatAge(new Date(lastDeliveredAt), now);
  return { tone: 'well', sentence: texts.silence.works(age, types.length), next: null };
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
    label: texts.silence.enable,
    confirm: null,
  };
  return { before: null, remedies: [enable] };
}

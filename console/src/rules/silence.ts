import type { Endpoint } from '../api/client.js';
import { formatSeconds } from '../format/duration.js';
import { countOf } from '../format/words.js';

export interface Silence {
  readonly tone: 'well' | 'attention' | 'quiet';
  readonly sentence: string;
}

/** So many events may wait for a moment without anything being wrong. */
const FEW_PENDING = 100;

/** Says in one sentence how an endpoint is, and why it is silent if it is. */
export function silenceOf(endpoint: Endpoint, now: Date): Silence {
  const { disabledReason, failures, failingSince, lastDeliveredAt, pending, unread, types } = endpoint;
  const waiting = countOf(Math.max(pending, unread), 'event');
  const attention = (sentence: string): Silence => ({ tone: 'attention', sentence });
  if (!endpoint.enabled)
    switch (disabledReason) {
      case 'gone':
        return attention(
          `Disabled, because it responded with 410: it said that it is gone. ${waiting} unread.`,
        );
      case 'failing':
        return attention(`Disabled, because every attempt failed for days. ${waiting} unread.`);
      case 'requested':
      case null:
        return { tone: 'quiet', sentence: `Disabled by a person or an app. ${waiting} unread.` };
    }
  if (failures > 0) {
    const since =
      failingSince === null
        ? ''
        : ` for ${formatSeconds((now.getTime() - Date.parse(failingSince)) / 1_000)}`;
    return attention(
      `Has failed${since}: ${countOf(failures, 'attempt')} without success. ${waiting} waiting.`,
    );
  }
  if (pending > FEW_PENDING) return attention(`Is behind: ${waiting} waiting.`);
  const only = types.length === 0 ? '' : ` It only wants ${countOf(types.length, 'type')} of events.`;
  if (lastDeliveredAt === null)
    return {
      tone: 'quiet',
      sentence: `Has received nothing yet: no event that it wants has happened.${only}`,
    };
  const age = formatSeconds((now.getTime() - Date.parse(lastDeliveredAt)) / 1_000);
  return { tone: 'well', sentence: `Works; last delivery ${age} ago.${only}` };
}

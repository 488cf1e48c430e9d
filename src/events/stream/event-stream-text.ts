import { formatSequence, toCloudEvent, toEventType } from '../cloud-event.js';
import type { SequencedEvent } from '../feed/events.store.js';

// Format: HTML standard, section 9.2. A line break ends a field, an empty line ends a block. No value here can contain a line break:
// sequences are digits, types are constants, and JSON escapes it.

/** Returns an event as a block: its sequence as `id`, which the reader sends back as Last-Event-ID, and the CloudEvent as `data`. */
export function eventBlock(event: SequencedEvent, source: string): string {
  const cloudEvent = JSON.stringify(toCloudEvent(event, source));
  return `id: ${formatSequence(event.sequence)}\nevent: ${toEventType(event.name)}\ndata: ${cloudEvent}\n\n`;
}

/**
 * Returns the first block: the wait before reconnecting, and the position from which to resume if no event follows. A block without
 * data sets both and dispatches no event.
 */
export function firstBlock(position: bigint, retryMs: number): string {
  return `: events follow\nretry: ${retryMs}\nid: ${formatSequence(position)}\n\n`;
}

/** Returns a block that keeps proxies from closing an idle connection. Sends the new position if events were filtered out. */
export function heartbeatBlock(newPosition: bigint | null): string {
  return newPosition === null ? ': nothing new\n\n' : `: nothing new\nid: ${formatSequence(newPosition)}\n\n`;
}

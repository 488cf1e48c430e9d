import { formatSequence, toCloudEvent, toEventType } from '../cloud-event.js';
import type { SequencedEvent } from '../feed/events.store.js';

// The format is that of the HTML standard, section 9.2: fields end with a line, blocks with an empty one. Nothing written here can
// hold a line break of its own: sequences are digits, types are ours, and JSON escapes it.

/** An event as a block: its place as `id`, which the reader sends back as Last-Event-ID, and the CloudEvent as `data`. */
export function eventBlock(event: SequencedEvent, source: string): string {
  const cloudEvent = JSON.stringify(toCloudEvent(event, source));
  return `id: ${formatSequence(event.sequence)}\nevent: ${toEventType(event.name)}\ndata: ${cloudEvent}\n\n`;
}

/**
 * The first block: how long to wait before connecting again, and from where to resume if nothing else comes. A block without data
 * sets both and is no event.
 */
export function firstBlock(position: bigint, retryMs: number): string {
  return `: events follow\nretry: ${retryMs}\nid: ${formatSequence(position)}\n\n`;
}

/** Keeps proxies from ending a connection on which nothing happens; tells how far the reader is when events were filtered out. */
export function heartbeatBlock(newPosition: bigint | null): string {
  return newPosition === null ? ': nothing new\n\n' : `: nothing new\nid: ${formatSequence(newPosition)}\n\n`;
}

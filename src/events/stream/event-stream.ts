import type { EventsStore } from '../feed/events.store.js';
import { matches, type EventFilter } from './event-filter.js';
import { eventBlock, firstBlock, heartbeatBlock } from './event-stream-text.js';
import type { EventTail, TailEvent } from './event-tail.service.js';
import type { StreamOutput } from './stream-output.js';

/** Why a stream ended: its reader disconnected, its reader was too slow, its key was revoked, or this process stops. */
export type StreamEnd = 'left' | 'slow' | 'revoked' | 'stopped';

/** Idle streams are written to at this interval. Load balancers close idle connections after a minute, some after 30 s. */
const HEARTBEAT_MS = 15_000;
const PAGE_SIZE = 100;
/** Wait after a failed read, or after one that returned nothing although the tail has advanced. */
const READ_AGAIN_MS = 1_000;
/** Spreads reconnects, so that readers disconnected together do not all return at once. */
const RETRY_MS = { from: 1_000, spread: 2_000 };

interface Page {
  readonly events: readonly TailEvent[];
  /** Every event up to here is in `events` or was filtered out. */
  readonly next: bigint;
}

/**
 * One reader of the stream. One loop serves both replay and live events: read the events after the position, write them, advance the
 * position. So there is no gap between the two.
 */
export class EventStream {
  private readonly ending = new AbortController();
  private why: StreamEnd = 'left';
  private toldPosition: bigint;
  private wroteAt = performance.now();

  constructor(
    private readonly output: StreamOutput,
    private readonly tail: EventTail,
    private readonly store: EventsStore,
    private readonly filter: EventFilter,
    private position: bigint,
  ) {
    this.toldPosition = position;
    output.onClose(() => this.end('left'));
  }

  /** Ends the stream. Later calls do not change the reason. */
  end(why: StreamEnd): void {
    if (this.ending.signal.aborted) return;
    this.why = why;
    this.ending.abort();
  }

  /** Runs until the reader disconnects or `end` is called. Returns the reason. */
  async run(): Promise<StreamEnd> {
    const { signal } = this.ending;
    const retryMs = Math.round(RETRY_MS.from + Math.random() * RETRY_MS.spread);
    await this.write(firstBlock(this.position, retryMs));
    while (!signal.aborted) {
      const seen = this.tail.count;
      const waitMs = await this.goOn().catch(() => READ_AGAIN_MS);
      const heartbeatInMs = this.wroteAt + HEARTBEAT_MS - performance.now();
      if (heartbeatInMs <= 0) await this.beat();
      else if (waitMs > 0) await this.tail.wait(signal, Math.min(waitMs, heartbeatInMs), seen);
    }
    if (this.why === 'left' || this.why === 'slow') this.output.cut();
    else await this.output.end();
    return this.why;
  }

  /** Writes the next events. Returns how many milliseconds to wait for the tail before trying again. */
  private async goOn(): Promise<number> {
    const { events, next } = await this.readOn();
    for (const { text, sequence } of events) {
      if (!(await this.write(text))) return 0;
      this.position = this.toldPosition = sequence;
    }
    const hasMoved = next > this.position || events.length > 0;
    if (next > this.position) this.position = next;
    if (hasMoved) return 0;
    return this.tail.eventsAfter(this.position) === null ? READ_AGAIN_MS : HEARTBEAT_MS;
  }

  /** Reads from the tail if it reaches back to the position; otherwise a page from the database. */
  private async readOn(): Promise<Page> {
    const kept = this.tail.eventsAfter(this.position);
    if (kept !== null) {
      const next = kept.at(-1)?.sequence ?? this.position;
      return { events: kept.filter((event) => matches(this.filter, event)), next };
    }
    const { types, sessionId } = this.filter;
    const page = await this.store.readPage(String(this.position), types, PAGE_SIZE, sessionId);
    const events = page.events.map((event) => ({
      name: event.name,
      subject: event.subject,
      sequence: BigInt(event.sequence),
      text: eventBlock(event, this.tail.source),
    }));
    return { events, next: BigInt(page.next) };
  }

  private async beat(): Promise<void> {
    const moved = this.position === this.toldPosition ? null : this.position;
    this.toldPosition = this.position;
    await this.write(heartbeatBlock(moved));
  }

  private async write(text: string): Promise<boolean> {
    const hasRoom = await this.output.write(text, this.ending.signal);
    this.wroteAt = performance.now();
    if (!hasRoom) this.end('slow');
    return hasRoom;
  }
}

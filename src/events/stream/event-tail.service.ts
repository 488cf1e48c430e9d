import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Loop } from '../../platform/async/loop.js';
import { WakeUp } from '../../platform/async/wake-up.js';
import { Environment } from '../../platform/env/environment.js';
import { runOutsideRequest } from '../../platform/http/request-context.js';
import { errorText } from '../../platform/redaction/error-text.js';
import { toCloudEvent } from '../cloud-event.js';
import { EventSignal } from '../event-signal.service.js';
import { EventsStore, type SequencedEvent } from '../feed/events.store.js';

/** An event formatted for streams. */
export interface TailEvent extends Pick<SequencedEvent, 'name' | 'subject'> {
  readonly sequence: bigint;
  readonly text: string;
}

const PAGE_SIZE = 200;
/** Enough for streams that are a second or two behind, at hundreds of events a second. Slower streams read the database. */
const KEPT_EVENTS = 1_000;
const KEPT_CHARACTERS = 4_000_000;
/** A fallback: EventSignal already causes a read every second. */
const FALLBACK_READ_MS = 5_000;

/** The newest events, read once for all open streams: every event after `after` up to `reached`. Signals when events are added. */
@Injectable()
export class EventTail extends WakeUp implements OnModuleDestroy {
  private readonly logger = new Logger(EventTail.name);
  private events: TailEvent[] = [];
  private characters = 0;
  private after = 0n;
  private reached = 0n;
  private readers = 0;
  private following: Loop | undefined;

  constructor(
    private readonly store: EventsStore,
    private readonly newEvents: EventSignal,
    private readonly environment: Environment,
  ) {
    super();
  }

  onModuleDestroy(): void {
    void this.following?.stop();
  }

  /** Runs `work` and keeps the tail up to date meanwhile. If no other stream is open, the tail starts after `newest`. */
  async during(newest: bigint, work: () => Promise<void>): Promise<void> {
    this.readers += 1;
    if (this.readers === 1) this.start(newest);
    try {
      await work();
    } finally {
      this.readers -= 1;
      if (this.readers === 0) void this.following?.stop();
    }
  }

  /** Returns the events after `position` that the tail contains, or null if the tail does not reach back to `position`. */
  eventsAfter(position: bigint): readonly TailEvent[] | null {
    if (position < this.after) return null;
    if (position >= this.reached) return [];
    // Searches from the end, where nearly all streams are.
    return this.events.slice(this.events.findLastIndex(({ sequence }) => sequence <= position) + 1);
  }

  /** Formats an event as a block of the stream. On reconnecting, the reader sends its last `id` as Last-Event-ID. */
  format(event: SequencedEvent): TailEvent {
    const { name, subject, sequence } = event;
    const cloudEvent = toCloudEvent(event, this.environment.EVENT_SOURCE);
    // No value contains a line break: sequences are digits, types are constants, and JSON escapes line breaks.
    const text = `id: ${cloudEvent.sequence}\nevent: ${cloudEvent.type}\ndata: ${JSON.stringify(cloudEvent)}\n\n`;
    return { name, subject, sequence: BigInt(sequence), text };
  }

  private start(newest: bigint): void {
    this.forget(newest);
    const following = new Loop({
      step: (stop) => this.readNext(stop),
      wakeUp: this.newEvents,
      onError: (error, failures) => {
        // Logs once per outage, not every second. The streams stay open and resume at their position.
        if (failures === 1) this.logger.warn(`streams wait: the events cannot be read: ${errorText(error)}`);
        return FALLBACK_READ_MS;
      },
    });
    this.following = following;
    runOutsideRequest(() => following.start());
  }

  private async readNext(stop: AbortSignal): Promise<number> {
    const page = await this.store.readPage(String(this.reached), PAGE_SIZE);
    if (!stop.aborted && page.events.length > 0) this.add(page.events, BigInt(page.next));
    return page.events.length < PAGE_SIZE ? FALLBACK_READ_MS : 0;
  }

  private add(events: readonly SequencedEvent[], reached: bigint): void {
    for (const event of events) {
      const kept = this.format(event);
      this.events.push(kept);
      this.characters += kept.text.length;
      // Drops the cached events, because they may still contain the erased data.
      if (kept.name === 'user.erased') this.forget(kept.sequence);
    }
    this.reached = reached;
    let dropped = 0;
    while (this.events.length - dropped > KEPT_EVENTS || this.characters > KEPT_CHARACTERS) {
      const { sequence, text } = this.events[dropped]!;
      this.characters -= text.length;
      this.after = sequence;
      dropped += 1;
    }
    if (dropped > 0) this.events = this.events.slice(dropped);
    this.signal();
  }

  private forget(upTo: bigint): void {
    this.events = [];
    this.characters = 0;
    this.after = upTo;
    this.reached = upTo;
  }
}

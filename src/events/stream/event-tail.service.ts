import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Environment } from '../../platform/env/environment.js';
import { runOutsideRequest } from '../../platform/http/request-context.js';
import { errorText } from '../../platform/redaction/error-text.js';
import { EventSignal } from '../event-signal.service.js';
import { EventsStore, type SequencedEvent } from '../feed/events.store.js';
import { Hints } from '../wake-up.js';
import { eventBlock } from './event-stream-text.js';

/** An event as streams write it: made into text once, however many write it. */
export interface TailEvent extends Pick<SequencedEvent, 'name' | 'subject'> {
  readonly sequence: bigint;
  readonly text: string;
}

const PAGE_SIZE = 200;
/**
 * What is kept for streams that are a moment behind. One that is further behind reads for itself; these suffice for the second or
 * two that a stream waits for its reader, at hundreds of events a second, and cost a few megabytes at most.
 */
const KEPT_EVENTS = 1_000;
const KEPT_CHARACTERS = 4_000_000;
/** The signal says something every second. */
const LOOK_EVERY_MS = 5_000;

/**
 * The newest events, read once for all streams of this process, while there are any. Holds every event after `after` up to
 * `reached`, in order, so a stream that is somewhere between the two misses nothing by reading here.
 */
@Injectable()
export class EventTail implements OnModuleDestroy {
  private readonly logger = new Logger(EventTail.name);
  private readonly changes = new Hints();
  private events: TailEvent[] = [];
  private characters = 0;
  private after = 0n;
  private reached = 0n;
  private readers = 0;
  private stopping = new AbortController();
  /** Of every CloudEvent. */
  readonly source: string;

  constructor(
    private readonly store: EventsStore,
    private readonly signal: EventSignal,
    { EVENT_SOURCE }: Environment,
  ) {
    this.source = EVENT_SOURCE;
  }

  onModuleDestroy(): void {
    this.stopping.abort();
  }

  /** From here on what comes after `newest`, or after an earlier one, is kept. Answers how to leave. */
  join(newest: bigint): () => void {
    this.readers += 1;
    if (this.readers === 1) this.start(newest);
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      this.readers -= 1;
      if (this.readers === 0) this.stopping.abort();
    };
  }

  /** How often something was added so far; for `wait`. */
  get count(): number {
    return this.changes.count;
  }

  /** Until something was added after `since`, or `atMostMs` have passed, or `signal` aborts. */
  wait(signal: AbortSignal, atMostMs: number, since: number): Promise<void> {
    return this.changes.wait(signal, atMostMs, since);
  }

  /** Every event after `position` that has been read; null when some of them are no longer kept. */
  eventsAfter(position: bigint): readonly TailEvent[] | null {
    if (position < this.after) return null;
    if (position >= this.reached) return [];
    // From the end, where nearly all streams are.
    return this.events.slice(this.events.findLastIndex(({ sequence }) => sequence <= position) + 1);
  }

  private start(newest: bigint): void {
    this.forget(newest);
    this.stopping = new AbortController();
    runOutsideRequest(() => void this.follow(this.stopping.signal));
  }

  private async follow(stopping: AbortSignal): Promise<void> {
    let isBlind = false;
    while (!stopping.aborted) {
      const said = this.signal.count;
      try {
        const page = await this.store.readPage(String(this.reached), undefined, PAGE_SIZE);
        if (stopping.aborted) return;
        isBlind = false;
        if (page.events.length > 0) this.add(page.events, BigInt(page.next));
        if (page.events.length < PAGE_SIZE) await this.signal.wait(stopping, LOOK_EVERY_MS, said);
      } catch (error) {
        // Once per outage, and not every second. The streams stay open, and go on where they are.
        if (!isBlind) this.logger.warn(`streams wait: the events cannot be read: ${errorText(error)}`);
        isBlind = true;
        await this.signal.wait(stopping, LOOK_EVERY_MS);
      }
    }
  }

  private add(events: readonly SequencedEvent[], reached: bigint): void {
    for (const event of events) {
      const { name, subject } = event;
      const kept = { name, subject, sequence: BigInt(event.sequence), text: eventBlock(event, this.source) };
      this.events.push(kept);
      this.characters += kept.text.length;
      // Events from before an erasure are kept here as they were, with what has been erased from them since.
      if (name === 'user.erased') this.forget(kept.sequence);
    }
    this.reached = reached;
    this.dropOldest();
    this.changes.give();
  }

  private dropOldest(): void {
    let dropped = 0;
    while (this.events.length - dropped > KEPT_EVENTS || this.characters > KEPT_CHARACTERS) {
      const { sequence, text } = this.events[dropped]!;
      this.characters -= text.length;
      this.after = sequence;
      dropped += 1;
    }
    if (dropped > 0) this.events = this.events.slice(dropped);
  }

  private forget(upTo: bigint): void {
    this.events = [];
    this.characters = 0;
    this.after = upTo;
    this.reached = upTo;
  }
}

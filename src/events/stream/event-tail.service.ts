import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Environment } from '../../platform/env/environment.js';
import { runOutsideRequest } from '../../platform/http/request-context.js';
import { errorText } from '../../platform/redaction/error-text.js';
import { EventSignal } from '../event-signal.service.js';
import { EventsStore, type SequencedEvent } from '../feed/events.store.js';
import { Hints } from '../wake-up.js';
import { eventBlock } from './event-stream-text.js';

/** An event as streams write it, formatted once for all of them. */
export interface TailEvent extends Pick<SequencedEvent, 'name' | 'subject'> {
  readonly sequence: bigint;
  readonly text: string;
}

const PAGE_SIZE = 200;
/**
 * Limits of the tail, which serves streams that are slightly behind; others read the database. At hundreds of events a second these
 * suffice for the second or two that a stream waits for its reader. They take a few megabytes at most.
 */
const KEPT_EVENTS = 1_000;
const KEPT_CHARACTERS = 4_000_000;
/** Fallback only: EventSignal fires every second. */
const LOOK_EVERY_MS = 5_000;

/**
 * The newest events, read once for all streams of this process while it has any. Contains every event after `after` up to `reached`,
 * in order, so a stream positioned between the two can read here without missing any.
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
  /** The `source` of every CloudEvent. */
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

  /** Makes the tail include every event after `newest`, or after an earlier position. Returns a function that leaves. */
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

  /** How many times events have been added; for `wait`. */
  get count(): number {
    return this.changes.count;
  }

  /** Resolves when events have been added after `since`, after `atMostMs`, or when `signal` aborts. */
  wait(signal: AbortSignal, atMostMs: number, since: number): Promise<void> {
    return this.changes.wait(signal, atMostMs, since);
  }

  /** Returns every event after `position` that has been read, or null if some of them have been dropped. */
  eventsAfter(position: bigint): readonly TailEvent[] | null {
    if (position < this.after) return null;
    if (position >= this.reached) return [];
    // Search from the end, because nearly all streams are there.
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
        // Log once per outage, not every second. The streams stay open and resume where they are.
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
      // Cached events from before an erasure still contain the erased data.
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

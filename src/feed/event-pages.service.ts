import { Injectable, Logger } from '@nestjs/common';
import { Environment } from '../platform/env/environment.js';
import { runOutsideRequest } from '../platform/http/request-context.js';
import { errorText } from '../platform/redaction/error-text.js';
import { toCloudEvent } from '../events/cloud-event.js';
import { EventSignal } from '../events/event-signal.service.js';
import type { SequencedEvent } from '../events/catalogue.rules.js';
import { EventsStore, type EventFilter } from './events.store.js';

type StreamPage = Awaited<ReturnType<EventPages['read']>>;
type StreamEvent = StreamPage['events'][number];

const PAGE_SIZE = 200;

/** Reads events for streams. Streams that have read all events share the pages that follow. */
@Injectable()
export class EventPages {
  private readonly logger = new Logger(EventPages.name);
  /** The newest sequence at the last read. */
  private newest = 0n;
  /** The shared pages, by the position before them. Dropped at the next signal, so that no stream misses a new event or an erasure. */
  private readonly shared = new Map<bigint, Promise<StreamPage>>();
  private signals = -1;
  /** The ends of shared pages after which more events follow. Streams at such a position share the next page, too. */
  private readonly ends = new Set<bigint>();
  private isFailing = false;

  constructor(
    private readonly store: EventsStore,
    private readonly signal: EventSignal,
    private readonly environment: Environment,
  ) {}

  async readAfter(position: bigint, filter: EventFilter) {
    const isInStep = position >= this.newest || this.ends.has(position);
    if (!isInStep) return this.read(position, filter);
    const page = await this.readShared(position);
    return { ...page, events: page.events.filter((event) => matches(filter, event)) };
  }

  private readShared(position: bigint): Promise<StreamPage> {
    if (this.signals !== this.signal.count) this.shared.clear();
    this.signals = this.signal.count;
    const known = this.shared.get(position);
    if (known !== undefined) return known;
    const page = runOutsideRequest(() => this.read(position)).then((read) => {
      if (read.next >= this.newest) this.ends.clear();
      else this.ends.add(read.next);
      return read;
    });
    this.shared.set(position, page);
    return page;
  }

  private async read(position: bigint, filter?: EventFilter) {
    try {
      const page = await this.store.readPage(String(position), PAGE_SIZE, filter);
      this.isFailing = false;
      this.newest = BigInt(page.last);
      return { events: page.events.map((event) => this.format(event)), next: BigInt(page.next) };
    } catch (error) {
      // Logs once per outage, not every second. The streams stay open and resume at their position.
      if (!this.isFailing) this.logger.warn(`streams wait: the events cannot be read: ${errorText(error)}`);
      this.isFailing = true;
      throw error;
    }
  }

  /** Formats an event as a block of the stream. On reconnecting, the reader sends its last `id` as Last-Event-ID. */
  private format(event: SequencedEvent) {
    const { name, subject, sequence } = event;
    const cloudEvent = toCloudEvent(event, this.environment.EVENT_SOURCE);
    // No value contains a line break: sequences are digits, types are constants, and JSON escapes line breaks.
    const text = `id: ${cloudEvent.sequence}\nevent: ${cloudEvent.type}\ndata: ${JSON.stringify(cloudEvent)}\n\n`;
    return { name, subject, sequence: BigInt(sequence), text };
  }
}

const matches = ({ types, sessionId }: EventFilter, { name, subject }: StreamEvent): boolean =>
  (types === undefined || types.includes(name)) && (sessionId === undefined || subject === sessionId);

import { Injectable, Logger } from '@nestjs/common';
import { Environment } from '../../platform/env/environment.js';
import { errorText } from '../../platform/redaction/error-text.js';
import { toCloudEvent } from '../cloud-event.js';
import { EventSignal } from '../event-signal.service.js';
import { EventsStore, type EventFilter, type SequencedEvent } from '../feed/events.store.js';

export interface StreamEvent extends Pick<SequencedEvent, 'name' | 'subject'> {
  readonly sequence: bigint;
  readonly text: string;
}

interface StreamPage {
  readonly events: readonly StreamEvent[];
  readonly next: bigint;
  /** Whether there were no events after this page. */
  readonly isLast: boolean;
}

const PAGE_SIZE = 200;

/** Reads events for streams. The streams that wait for the next event share one read per signal. */
@Injectable()
export class EventPages {
  private readonly logger = new Logger(EventPages.name);
  /** The newest sequence that a read has found. */
  private newest = 0n;
  /** The read of the events after `after`. It ends with the next signal, so that no stream misses a new event or an erasure. */
  private shared: { signals: number; after: bigint; page: Promise<StreamPage> } | undefined;
  private isFailing = false;

  constructor(
    private readonly store: EventsStore,
    private readonly signal: EventSignal,
    private readonly environment: Environment,
  ) {}

  async readAfter(position: bigint, filter: EventFilter): Promise<StreamPage> {
    const signals = this.signal.count;
    if (this.shared?.signals !== signals) {
      const isWaiting = position >= this.newest;
      this.shared = isWaiting ? { signals, after: position, page: this.read(position) } : undefined;
    }
    if (this.shared !== undefined && this.shared.after <= position) {
      const { events, next, isLast } = await this.shared.page;
      const isWanted = (event: StreamEvent) => event.sequence > position && matches(filter, event);
      if (isLast || next > position) return { events: events.filter(isWanted), next, isLast };
    }
    return this.read(position, filter);
  }

  private async read(position: bigint, filter?: EventFilter): Promise<StreamPage> {
    try {
      const page = await this.store.readPage(String(position), PAGE_SIZE, filter);
      this.isFailing = false;
      this.newest = BigInt(page.last);
      const next = BigInt(page.next);
      return { events: page.events.map((event) => this.format(event)), next, isLast: next >= this.newest };
    } catch (error) {
      // Logs once per outage, not every second. The streams stay open and resume at their position.
      if (!this.isFailing) this.logger.warn(`streams wait: the events cannot be read: ${errorText(error)}`);
      this.isFailing = true;
      throw error;
    }
  }

  /** Formats an event as a block of the stream. On reconnecting, the reader sends its last `id` as Last-Event-ID. */
  private format(event: SequencedEvent): StreamEvent {
    const { name, subject, sequence } = event;
    const cloudEvent = toCloudEvent(event, this.environment.EVENT_SOURCE);
    // No value contains a line break: sequences are digits, types are constants, and JSON escapes line breaks.
    const text = `id: ${cloudEvent.sequence}\nevent: ${cloudEvent.type}\ndata: ${JSON.stringify(cloudEvent)}\n\n`;
    return { name, subject, sequence: BigInt(sequence), text };
  }
}

const matches = ({ types, sessionId }: EventFilter, { name, subject }: StreamEvent): boolean =>
  (types === undefined || types.includes(name)) && (sessionId === undefined || subject === sessionId);

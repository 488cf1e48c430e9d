import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { within } from '../platform/async/within.js';
import { formatSequence } from '../events/cloud-event.js';
import type { Principal } from '../access/scopes.js';
import type { EventSignal } from '../events/event-signal.service.js';
import type { EventFilter } from './events.store.js';
import type { EventPages } from './event-pages.service.js';

/**
 * Why a stream ended.
 * - `left`: the reader disconnected.
 * - `slow`: the reader was too slow.
 * - `revoked`: the reader's key was revoked, or its session of the console is over.
 * - `stopped`: this process stops.
 */
export type StreamEnd = 'left' | 'slow' | 'revoked' | 'stopped';

/** A stream without a write for this time gets a heartbeat, since some load balancers close idle connections after 30 s. */
const HEARTBEAT_MS = 15_000;
/** How long to wait for a slow reader before disconnecting it. The reader can reconnect and resume at its position. */
const DRAIN_WITHIN_MS = 8_000;
/** How long to wait until the last bytes of an ended stream are sent. The shutdown waits for them. */
const END_WITHIN_MS = 1_000;
/** Spreads reconnects, so that readers disconnected together do not all return at once. */
const RETRY_MS = { from: 1_000, spread: 2_000 };

/** One open stream. The same loop reads past and live events, so there is no gap between them. Format: HTML standard, section 9.2. */
export class EventStream {
  private readonly ending = new AbortController();
  private sentPosition: bigint;
  private wroteAt = performance.now();

  constructor(
    private readonly response: ServerResponse,
    private readonly pages: EventPages,
    private readonly newEvents: EventSignal,
    private readonly filter: EventFilter,
    private position: bigint,
    /** The caller that opened the stream. Its id is null if it cannot be revoked. */
    readonly reader: Pick<Principal, 'id' | 'consoleUntil'>,
  ) {
    this.sentPosition = position;
    // Without a listener, an 'error' event would end the process. The 'close' event reports the end of the connection.
    response.on('error', () => {});
    response.once('close', () => this.end('left'));
    // The reader may have disconnected before the stream began.
    if (response.destroyed) this.end('left');
  }

  /** Ends the stream. Later calls do not change the reason. */
  end(why: StreamEnd): void {
    this.ending.abort(why);
  }

  /** Runs until the reader disconnects or `end` is called. Returns the reason. */
  async run(): Promise<StreamEnd> {
    const { signal } = this.ending;
    const retryMs = Math.round(RETRY_MS.from + Math.random() * RETRY_MS.spread);
    // A block without `data` sets the client's reconnection time and last event id, but dispatches no event.
    await this.write(`: events follow\nretry: ${retryMs}\nid: ${formatSequence(this.position)}\n\n`);
    while (!signal.aborted) {
      const seen = this.newEvents.count;
      // EventPages logs an error. The stream then waits for the next signal or heartbeat and reads again.
      const hasMoved = await this.writeNext().catch(() => false);
      const heartbeatInMs = this.wroteAt + HEARTBEAT_MS - performance.now();
      if (heartbeatInMs <= 0) await this.writeHeartbeat();
      else if (!hasMoved) await this.newEvents.wait(signal, heartbeatInMs, seen);
    }
    const why = signal.reason as StreamEnd;
    if (why === 'revoked' || why === 'stopped') {
      // Ends the response, so that the reader sees that the response is complete.
      const sent = new Promise<void>((resolve) => this.response.once('close', resolve).end(resolve));
      await within(END_WITHIN_MS, sent);
    }
    if (!this.response.writableFinished) this.response.destroy();
    return why;
  }

  /** Writes the next events. Returns whether the position has moved. If not, there are no more events yet. */
  private async writeNext(): Promise<boolean> {
    const before = this.position;
    const { events, next } = await this.pages.readAfter(this.position, this.filter);
    for (const { text, sequence } of events) {
      if (!(await this.write(text))) return true;
      this.position = this.sentPosition = sequence;
    }
    if (next > this.position) this.position = next;
    return this.position > before;
  }

  /** Writes a comment as a heartbeat. If events were filtered out since the last write, includes the new position. */
  private async writeHeartbeat(): Promise<void> {
    const id = this.position === this.sentPosition ? '' : `id: ${formatSequence(this.position)}\n`;
    this.sentPosition = this.position;
    await this.write(`: nothing new\n${id}\n`);
  }

  private async write(text: string): Promise<boolean> {
    const hasRoom = await this.send(text);
    this.wroteAt = performance.now();
    if (!hasRoom) this.end('slow');
    return hasRoom;
  }

  /** Writes the text and waits for a slow reader, so that unread text does not fill the memory. Returns false on timeout or end. */
  private async send(text: string): Promise<boolean> {
    const { signal } = this.ending;
    if (signal.aborted) return false;
    if (this.response.write(text)) return true;
    const drained = once(this.response, 'drain', { signal }).then(
      () => true,
      () => false,
    );
    return within(DRAIN_WITHIN_MS, drained, () => false);
  }
}

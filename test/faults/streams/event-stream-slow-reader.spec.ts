import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { formatSequence } from '../../../src/events/cloud-event.js';
import { appendEvents } from '../../../src/events/outbox.js';
import { EventsStore } from '../../../src/feed/events.store.js';
import { EventStream } from '../../../src/feed/event-stream.js';
import { sessionEvent } from '../../db/events/fixture.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { openStream } from '../../setup/receivers/event-stream.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { inTime, isLong, itAtLength, measureUntil, promise } from '../support/promise.js';

const READERS = isLong ? 20 : 1;
/** The number of events. With EVENT_BYTES each, they have 20 MB, far more than the socket buffers hold. */
const EVENTS = 2_500;
const EVENT_BYTES = 8_000;
const BATCH = 100;
const CUT_WITHIN_MS = 10_000;
/** The limit of bytes buffered for one reader, however many events it has missed. */
const HELD_BYTES = 256 * 1024;

let test: TestApp;
/** The largest number of bytes that this process has buffered for one reader. */
let heldBytes: number;
/** How long a write had waited for the slow reader when its stream was ended. */
let waitedMs: number;

afterEach(() => void jest.restoreAllMocks());
const closing = closeAfterEach();

/** Starts the service and a stream whose reader never reads. */
async function start() {
  heldBytes = 0;
  waitedMs = Infinity;
  test = await startTestApp({ ROLE: 'api', SCS_BASE_URL: 'http://127.0.0.1:9' });
  closing.push(test.close);
  const stuck = await openStream(test.url, { key: test.adminKey });
  stuck.stopReading();
  return stuck;
}

interface Stream {
  readonly response: ServerResponse;
  readonly ending: AbortController;
  send(text: string): Promise<boolean>;
}

const prototype = EventStream.prototype as unknown as Stream;
const { send: sendAsBuilt } = prototype;

function watchSends(send: Stream['send']): void {
  jest.spyOn(prototype, 'send').mockImplementation(async function (this: Stream, text) {
    const beganAt = performance.now();
    const sent = send.call(this, text);
    heldBytes = Math.max(heldBytes, this.response.writableLength);
    if (!(await sent) && !this.ending.signal.aborted) waitedMs = performance.now() - beganAt;
    return sent;
  });
}

async function endedAsSlow(): Promise<boolean> {
  const metrics = await (await fetch(`${test.url}/metrics`)).text();
  return /pv_onboarding_event_streams_ended_total\{reason="slow"\} 1$/m.test(metrics);
}

async function appendAll(): Promise<void> {
  const database = test.database;
  const subject = randomUUID();
  const event = sessionEvent('session.online', subject, 'x'.repeat(EVENT_BYTES));
  for (let appended = 0; appended < EVENTS; appended += BATCH) {
    await database.transaction((tx) =>
      appendEvents(
        tx,
        Array.from({ length: BATCH }, () => event),
      ),
    );
  }
}

describe('R33: a slow reader harms nobody', () => {
  /** Returns the number of events that each of the other readers received. */
  async function measure(): Promise<number[]> {
    await start();
    const readers = await Promise.all(
      Array.from({ length: READERS }, () => openStream(test.url, { key: test.adminKey })),
    );
    await appendAll();
    const newest = await test.app.get(EventsStore).getNewest();
    await waitFor('the others to have everything', () =>
      readers.every((reader) => reader.lastEventId() === formatSequence(newest)),
    );
    await waitFor('the slow one to be cut', endedAsSlow);
    for (const reader of readers) reader.leave();
    return readers.map(({ events }) => events.length);
  }

  it('is disconnected, only a little is buffered for it, and the others get everything', async () => {
    watchSends(sendAsBuilt);
    const read = await measureUntil(() => waitedMs <= CUT_WITHIN_MS, measure);
    promise('R33', {
      figure: `cut after ${Math.round(waitedMs)} ms, at most ${Math.round(heldBytes / 1024)} kB held for a reader, ${READERS} others got all ${EVENTS}`,
      bound: `${CUT_WITHIN_MS} ms, ${HELD_BYTES / 1024} kB, all`,
    });
    expect(waitedMs).toBeLessThanOrEqual(inTime(CUT_WITHIN_MS));
    expect(heldBytes).toBeLessThanOrEqual(HELD_BYTES);
    expect(read).toEqual(read.map(() => EVENTS));
  });

  itAtLength('turns red when everything is buffered until it is read', async () => {
    watchSends(async function (this: Stream, text) {
      this.response.write(text);
      return true;
    });
    const stuck = await start();
    await appendAll();
    await waitFor('more than may be held', () => heldBytes > HELD_BYTES);
    expect(await endedAsSlow()).toBe(false);
    stuck.leave();
  });
});

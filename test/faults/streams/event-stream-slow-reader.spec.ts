import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { formatSequence } from '../../../src/events/cloud-event.js';
import { appendEvents } from '../../../src/events/outbox.js';
import { EventsStore } from '../../../src/events/feed/events.store.js';
import { StreamOutput } from '../../../src/events/stream/stream-output.js';
import { Database } from '../../../src/platform/database/database.js';
import { sessionEvent } from '../../db/events-fixture.js';
import { openStream } from '../../setup/event-stream.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { caught, promise } from '../support/promise.js';

const READERS = 20;
/** Together 20 MB: far more than the buffers of two kernels hold. */
const EVENTS = 2_500;
const EVENT_BYTES = 8_000;
const BATCH = 100;
const CUT_WITHIN_MS = 10_000;
/** Flat: what one write may leave behind, and not what a reader has missed. */
const HELD_BYTES = 256 * 1024;

let test: TestApp;
/** The most that was held in this process for any one reader. */
let heldBytes: number;
/** How long the reader that was cut had left us waiting. */
let waitedMs: number;

beforeEach(async () => {
  heldBytes = 0;
  waitedMs = Infinity;
  test = await startTestApp({ ROLE: 'api', SCS_BASE_URL: 'http://127.0.0.1:9' });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await test.close();
});

type Write = (text: string, signal: AbortSignal) => Promise<boolean>;

const { write: writeAsBuilt } = StreamOutput.prototype as { write: Write };

/** Measures after every write what is held for the reader. */
function watchWrites(write: Write): void {
  jest.spyOn(StreamOutput.prototype, 'write').mockImplementation(async function (
    this: StreamOutput,
    text,
    signal,
  ) {
    const beganAt = performance.now();
    const written = write.call(this, text, signal);
    heldBytes = Math.max(heldBytes, responseOf(this).writableLength);
    if (!(await written) && !signal.aborted) waitedMs = performance.now() - beganAt;
    return written;
  });
}
const responseOf = (output: StreamOutput) => (output as unknown as { response: ServerResponse }).response;

async function endedAsSlow(): Promise<boolean> {
  const metrics = await (await fetch(`${test.url}/metrics`)).text();
  return /pv_event_streams_ended_total\{reason="slow"\} 1$/m.test(metrics);
}

async function appendAll(): Promise<void> {
  const database = test.app.get(Database);
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
  it('is cut, nothing is kept for it, and the others get everything', async () => {
    watchWrites(writeAsBuilt);
    const readers = await Promise.all(
      Array.from({ length: READERS }, () => openStream(test.url, { key: test.adminKey })),
    );
    const stuck = await openStream(test.url, { key: test.adminKey });
    stuck.stopReading();
    await appendAll();
    const newest = await test.app.get(EventsStore).getNewest();
    await waitFor(
      'the others to have everything',
      () => readers.every((reader) => reader.lastEventId() === formatSequence(newest)),
      30_000,
    );
    await waitFor('the slow one to be cut', endedAsSlow, 30_000);
    promise('R33', {
      figure: `cut after ${Math.round(waitedMs)} ms, at most ${Math.round(heldBytes / 1024)} kB held for a reader, ${readers.length} others got all ${EVENTS}`,
      bound: `${CUT_WITHIN_MS} ms, ${HELD_BYTES / 1024} kB, all`,
    });
    expect(waitedMs).toBeLessThanOrEqual(CUT_WITHIN_MS);
    expect(heldBytes).toBeLessThanOrEqual(HELD_BYTES);
    expect(readers.map(({ events }) => events.length)).toEqual(readers.map(() => EVENTS));
    for (const reader of readers) reader.leave();
  }, 60_000);

  it('goes red where everything is kept until it is read', async () => {
    watchWrites(async function (this: StreamOutput, text) {
      responseOf(this).write(text);
      return true;
    });
    const stuck = await openStream(test.url, { key: test.adminKey });
    stuck.stopReading();
    await appendAll();
    await waitFor('more than may be held', () => heldBytes > HELD_BYTES);
    expect(await endedAsSlow()).toBe(false);
    caught('R33', 'unbounded buffer');
    stuck.leave();
  }, 60_000);
});

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import pg from 'pg';
import { EventSignal } from '../../../src/events/event-signal.service.js';
import { EVENTS_CHANNEL } from '../../../src/events/sequence.sql.js';
import { appendOnline } from '../../db/events/fixture.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { openStream } from '../../setup/receivers/event-stream.js';
import { startTestApp } from '../../setup/test-app.js';
import { createTestDatabase } from '../../setup/database/test-database.js';
import { waitFor } from '../../setup/wait-for.js';
import { inTime, isLong, itAtLength, measureUntil, promise } from '../support/promise.js';
import { startTcpProxy } from '../support/network/tcp-proxy.js';

/** The application_name of every listening connection. */
const LISTENING = 'pv-onboarding listen';
const NOTICED_WITHIN_MS = 3_000;
const LATENCY_MS = 5_000;
const EVENTS = isLong ? 60 : 20;
const PAUSE_MS = 100;

const closing = closeAfterEach();

async function measure(prepare?: (app: NestFastifyApplication, databaseUrl: string) => void) {
  const testDatabase = await createTestDatabase();
  closing.push(testDatabase.drop);
  /** Connects to the database without the proxy, like another replica. */
  const writer = testDatabase.open();
  const proxy = await startTcpProxy(testDatabase.url);
  closing.push(proxy.close);
  const test = await startTestApp(
    { ROLE: 'api', SCS_BASE_URL: 'http://127.0.0.1:9', DATABASE_URL: proxy.url },
    { prepare: (app) => prepare?.(app, proxy.url) },
  );
  closing.push(test.close);
  const receivedAt = new Map<string, number>();
  const stream = await openStream(test.url, {
    key: test.adminKey,
    onEvent: ({ event, receivedAt: at }) => void receivedAt.set(event.subject, at),
  });
  const append = async (): Promise<[string, number]> => {
    const subject = randomUUID();
    await appendOnline(writer, subject, 'test');
    return [subject, performance.now()];
  };
  // Without a catch-up read, an event from before LISTEN never arrives.
  await waitFor('all connections to listen', async () => {
    const rows = await writer.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1 AND state = 'idle'
       AND (query LIKE 'LISTEN %' OR query LIKE '%pg_listening_channels%')`,
      [LISTENING],
    );
    return rows.length === (prepare === undefined ? 1 : 2);
  });
  const [first] = await append();
  await waitFor('the stream to work', () => receivedAt.has(first));
  const listening = proxy.fallSilent(LISTENING);
  const silentAt = performance.now();
  const noticed = waitFor(
    'the silent connection to be given up',
    () => proxy.closed(LISTENING) >= listening,
    LATENCY_MS,
  ).then(
    () => performance.now() - silentAt,
    () => Infinity,
  );
  const committed: [string, number][] = [];
  for (let count = 0; count < EVENTS; count++) {
    committed.push(await append());
    await sleep(PAUSE_MS);
  }
  await waitFor(
    'all events',
    () => committed.every(([subject]) => receivedAt.has(subject)),
    LATENCY_MS,
  ).catch(() => {});
  const latencies = committed.flatMap(([subject, at]) => {
    const received = receivedAt.get(subject);
    return received === undefined ? [] : [received - at];
  });
  stream.leave();
  return {
    noticedMs: await noticed,
    missed: committed.length - latencies.length,
    latencyMs: Math.max(0, ...latencies),
  };
}

describe('R11: a lost LISTEN loses nothing', () => {
  it('notices that the connection is half open, misses no event and sends each in time', async () => {
    const { noticedMs, missed, latencyMs } = await measureUntil(
      (figure) =>
        figure.missed === 0 && figure.noticedMs <= NOTICED_WITHIN_MS && figure.latencyMs <= LATENCY_MS,
      measure,
    );
    promise('R11', {
      figure: `noticed after ${Math.round(noticedMs)} ms, ${missed} of ${EVENTS} missed, the slowest came after ${Math.round(latencyMs)} ms`,
      bound: `${NOTICED_WITHIN_MS} ms, 0, ${LATENCY_MS} ms`,
    });
    expect(noticedMs).toBeLessThanOrEqual(inTime(NOTICED_WITHIN_MS));
    expect(missed).toBe(0);
    expect(latencyMs).toBeLessThanOrEqual(inTime(LATENCY_MS));
  });

  itAtLength('turns red when events are read only after a notification', async () => {
    const { missed, latencyMs } = await measure((app, databaseUrl) =>
      trustNotifications(app.get(EventSignal), databaseUrl),
    );
    expect(missed > 0 || latencyMs > LATENCY_MS).toBe(true);
  });
});

/** The bug: the signal fires only on a notification, never after a timeout. */
function trustNotifications(signal: EventSignal, connectionString: string): void {
  const client = new pg.Client({ connectionString, application_name: LISTENING });
  client.on('error', () => {});
  client.on('notification', () => signal.signal());
  signal.onApplicationBootstrap = () =>
    void client.connect().then(() => client.query(`LISTEN ${EVENTS_CHANNEL}`));
  signal.onApplicationShutdown = () => void client.end();
  const wait = signal.wait.bind(signal);
  signal.wait = (aborted, _atMostMs, since) => wait(aborted, 2 ** 30, since);
}

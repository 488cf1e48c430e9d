import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Logger, type INestApplicationContext } from '@nestjs/common';
import { Publishers } from '../../../src/broker/broker.service.js';
import { BrokerError, type EventPublisher } from '../../../src/broker/event-publisher.js';
import { EventsStore } from '../../../src/feed/events.store.js';
import type { Database } from '../../../src/platform/database/database.js';
import { Metrics } from '../../../src/platform/metrics/metrics.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { createTestDatabase } from '../../setup/database/test-database.js';
import { waitFor } from '../../setup/wait-for.js';
import { appendOnline, startWorker } from './fixture.js';

const closing = closeAfterEach();
let url: string;
let database: Database;
beforeEach(async () => {
  const testDatabase = await createTestDatabase();
  closing.push(testDatabase.drop);
  ({ url } = testDatabase);
  database = testDatabase.open();
});
afterEach(() => void jest.restoreAllMocks());

/** Appends events with the sequences 1, 2, …, and returns their ids. */
async function append(count: number): Promise<string[]> {
  await appendOnline(database, randomUUID(), ...Array.from({ length: count }, String));
  const { events } = await new EventsStore(database).readPage('0', count);
  return events.map(({ id }) => id);
}
async function start(...opened: Partial<EventPublisher>[]): Promise<INestApplicationContext> {
  const open = jest.spyOn(Publishers.prototype, 'open');
  for (const each of opened)
    open.mockResolvedValueOnce({
      lastId: null,
      warnings: [],
      publish: async ({ length }) => length,
      close: async () => {},
      ...each,
    });
  const worker = await startWorker(url, [], { EVENT_BROKER_URL: 'nats://127.0.0.1:1' });
  closing.push(() => worker.close());
  return worker;
}
const place = async () => {
  const [row] = await database.query<{
    readTo: string;
    lastError: string | null;
    isFailing: boolean;
    warnings: string[];
  }>(
    `SELECT read_to AS "readTo", last_error AS "lastError", failing_since IS NOT NULL AS "isFailing", warnings FROM broker_positions`,
  );
  return row;
};
const placeIs = (expected: object) =>
  waitFor('the place', async () => isDeepStrictEqual(await place(), expected));

/** Returns a function that returns the warnings about the broker. A busy machine may cause others. */
function spyOnWarnings(): () => unknown[] {
  const warn = jest.spyOn(Logger.prototype, 'warn');
  const isOfBroker = (line: unknown) => /broker|in memory|published again/.test(String(line));
  return () => warn.mock.calls.flat().filter(isOfBroker);
}

it('the broker is named with why it accepts no events, until it accepts them again', async () => {
  const warnings = spyOnWarnings();
  const log = jest.spyOn(Logger.prototype, 'log');
  await append(1);
  const refused = { publish: async () => Promise.reject(new BrokerError('refused')) };
  await start(refused, refused, { warnings: ['in memory'] });
  await placeIs({ readTo: '0', lastError: 'refused', isFailing: true, warnings: [] });
  await placeIs({ readTo: '1', lastError: null, isFailing: false, warnings: ['in memory'] });
  await waitFor('the log', () => /accepts events again, after \d+ s/.test(log.mock.calls.join()));
  expect(warnings()).toEqual([expect.stringContaining('accepts no events: refused'), 'in memory']);
});

it('events that the broker has not confirmed are published again, and each counts once', async () => {
  const ids = await append(4);
  const published: string[][] = [];
  const upTo = (most: number) => async (events: readonly { id: string }[]) => {
    published.push(events.map(({ id }) => id));
    return Math.min(most, events.length);
  };
  const worker = await start({ publish: upTo(2) }, { lastId: ids[1], publish: upTo(9) });
  await placeIs({ readTo: '4', lastError: null, isFailing: false, warnings: [] });
  expect(published.slice(0, 2)).toEqual([ids, ids.slice(2)]);
  expect(await worker.get(Metrics).read()).toContain('pv_onboarding_broker_events_total 4\n');
});

it.each([
  ['the last one that the broker has', 2, 1, 2, false],
  ['the last one that the broker has, if it has lost some', 1, 3, 1, true],
  ['the first one, if the broker has none', null, 3, 0, true],
  ['the place, if the broker does not say', undefined, 2, 2, false],
  ['the place, if nobody knows that of the broker', 9, 2, 2, false],
])('publishing begins after %s', async (_, last, readTo, after, hasLost) => {
  const warnings = spyOnWarnings();
  const ids = await append(4);
  await database.query(`INSERT INTO broker_positions (name, read_to) VALUES ('nats', $1)`, [readTo]);
  let first: string[] | undefined;
  const lastId = typeof last === 'number' ? (ids[last - 1] ?? randomUUID()) : last;
  const publish = async (events: readonly { id: string }[]) => (first ??= events.map(({ id }) => id)).length;
  await start({ lastId, publish: async (events) => (await publish(events), events.length) });
  await waitFor('all', async () => (await place())?.readTo === '4');
  expect(first).toEqual(ids.slice(after));
  expect(warnings()).toEqual(hasLost ? [expect.stringContaining(`after ${after} are published again`)] : []);
});

it.each(['the lease is lost', 'the process stops'])(
  'a publish that never ends is left once %s',
  async (by) => {
    const error = jest.spyOn(Logger.prototype, 'error');
    let isPublishing = false;
    let isClosed = false;
    let end = () => {};
    await append(1);
    const worker = await start({
      publish: () =>
        new Promise((_, reject) => {
          isPublishing = true;
          end = () => reject(new BrokerError('closed'));
        }),
      close: async () => {
        isClosed = true;
        end();
      },
    });
    await waitFor('a publish', () => isPublishing);
    if (by === 'the process stops') await worker.close();
    else
      await database.query(
        `UPDATE broker_positions SET lease_token = gen_random_uuid(), lease_until = clock_timestamp() + interval '1 hour'`,
      );
    await waitFor('the connection is closed', () => isClosed);
    expect(await place()).toEqual({ readTo: '0', lastError: null, isFailing: false, warnings: [] });
    expect(error).not.toHaveBeenCalled();
  },
);

import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { EventsServiceOptions } from '../events-service.process.js';
import { type Arrival, sharedClockMs } from '../harness/load/arrivals.js';
import type { ReceiverOptions } from '../harness/event-receiver.process.js';
import {
  append,
  dataOf,
  EVENT_OF,
  follow,
  newSubjects,
  NOTIFY_BARE,
  type Parts,
  type Reader,
  take,
} from './parts.js';

export const NOTIFY = 'bare LISTEN/NOTIFY';
export const CONTROL = 'bare LISTEN/NOTIFY again';
export const HANDLER = 'append to handler';
export const STREAM = 'append to stream';
export const WEBHOOK = 'append to webhook';

/** The pause between two measured events, long enough that their deliveries do not overlap. */
const PAUSE_MS = 10;

/** One path of an event, from its commit to its arrival at a reader. */
export interface Way {
  readonly name: string;
  /** Commits an event. Returns `sharedClockMs()` right after the commit. */
  commit(subject: string): Promise<number>;
  arrived(count: number): Promise<Arrival[]>;
  before?(): Promise<void>;
  after?(): Promise<void>;
}

export function waysOf(parts: Parts): Way[] {
  const { service, receiver, listener, headers, database } = parts;
  const notify = (name: string): Way => ({
    name,
    arrived: (count) => listener.run(count),
    commit: (subject) =>
      inTransaction(database.pool, async (client) => {
        await client.query(NOTIFY_BARE, [[subject], JSON.stringify(dataOf(subject))]);
      }),
  });
  const ours = (name: string, reader: Reader, arrived: Way['arrived']): Way => ({
    name,
    arrived,
    commit: (subject) => append(database, EVENT_OF[reader], [subject]),
  });
  return [
    notify(NOTIFY),
    ours(HANDLER, 'handler', (count) =>
      service.run(count, { what: 'handled' } satisfies EventsServiceOptions),
    ),
    {
      ...ours(STREAM, 'stream', (count) => take(receiver, count, 'stream')),
      before: () => follow(receiver, service, headers),
      after: () => receiver.run(0, { kind: 'leave' } satisfies ReceiverOptions),
    },
    ours(WEBHOOK, 'webhook', (count) => take(receiver, count, 'webhooks')),
    notify(CONTROL),
  ];
}

export interface Delay {
  readonly sinceAppendMs: number;
  readonly sinceCommitMs: number;
}

export async function latencyRound(way: Way, events: number): Promise<Delay[]> {
  await way.before?.();
  const sent = new Map<string, { readonly appendedMs: number; readonly committedMs: number }>();
  const arrived = way.arrived(events);
  for (const subject of newSubjects(events)) {
    const appendedMs = sharedClockMs();
    sent.set(subject, { appendedMs, committedMs: await way.commit(subject) });
    await sleep(PAUSE_MS);
  }
  const times = (await arrived).flatMap(([subject, atMs]) => {
    const known = sent.get(subject);
    if (known === undefined) return [];
    return [{ sinceAppendMs: atMs - known.appendedMs, sinceCommitMs: atMs - known.committedMs }];
  });
  await way.after?.();
  if (times.length < events)
    throw new Error(`${way.name}: ${events - times.length} events of the round are missing`);
  return times;
}

async function inTransaction(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<unknown>) {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await work(client);
    await client.query('COMMIT');
    return sharedClockMs();
  } finally {
    client.release();
  }
}

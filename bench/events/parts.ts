import { randomUUID } from 'node:crypto';
import type { EventName, NewEvent } from '../../src/events/catalogue.rules.js';
import { appendEvents } from '../../src/events/outbox.js';
import { Database } from '../../src/platform/database/database.js';
import { type Arrival, sharedClockMs } from '../harness/load/arrivals.js';
import type { ReceiverOptions } from '../harness/event-receiver.process.js';
import { newKey, post } from '../harness/key.js';
import type { LineUp } from '../harness/line-up.js';
import type { Participant } from '../harness/participant.js';
import { gridLocationId, userId } from '../harness/sessions.js';

/** The name of the port at the fake remote service. The harness requires one, but no process of this benchmark sends requests to it. */
export const UNUSED_REMOTE = 'events';

/** Each reader subscribes to its own event type, so that only one reader works at a time. */
export const EVENT_OF = {
  handler: 'session.online',
  stream: 'session.lost',
  webhook: 'session.expired',
} as const;
export type Reader = keyof typeof EVENT_OF;

export async function prepareParts(lineUp: LineUp, countsRoundTrips = false) {
  const database = await lineUp.database('events');
  const start = (file: string, environment = {}) =>
    lineUp.contender({
      name: UNUSED_REMOTE,
      script: new URL(`../${file}`, import.meta.url),
      database,
      concurrency: 10,
      environment,
      countsRoundTrips,
    });
  const service = await start('events-service.process.ts', {
    ROLE: 'all',
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true',
    EVENT_BROKER_URL: 'nats://127.0.0.1:1',
  });
  const receiver = await start('harness/event-receiver.process.ts');
  const listener = await start('baselines/listener.process.ts');
  const headers = await newKey(service.url, ['events:read']);
  await post(`${service.url}/api/v1/webhook-endpoints`, { url: receiver.url, types: [EVENT_OF.webhook] });

  const own = new Database(database.environment);
  await own.query(
    'CREATE TABLE bare_events (id bigserial PRIMARY KEY, subject text NOT NULL, data jsonb NOT NULL)',
  );
  return { service, receiver, listener, headers, database: own, end: () => own.onApplicationShutdown() };
}

export type Parts = Awaited<ReturnType<typeof prepareParts>>;

/** Appends one event per subject in one transaction. Returns `sharedClockMs()` right after the commit. */
export async function append(database: Database, name: EventName, subjects: readonly string[]) {
  await database.transaction((tx) =>
    appendEvents(
      tx,
      subjects.map((subject) => ({ name, subject, data: dataOf(subject) }) as NewEvent),
    ),
  );
  return sharedClockMs();
}

export const take = (receiver: Participant, count: number, from: 'webhooks' | 'stream') =>
  receiver.run<Arrival[]>(count, { kind: 'take', from } satisfies ReceiverOptions);

export async function follow(
  receiver: Participant,
  service: Participant,
  headers: Readonly<Record<string, string>>,
  after?: string,
): Promise<void> {
  const place = after === undefined ? '' : `&after=${after}`;
  const url = `${service.url}/api/v1/events/stream?types=${EVENT_OF.stream}${place}`;
  await receiver.run(0, { kind: 'follow', url, headers } satisfies ReceiverOptions);
}

export const newSubjects = (count: number): string[] => Array.from({ length: count }, () => randomUUID());

export const NOTIFY_BARE = `
  WITH inserted AS (
    INSERT INTO bare_events (subject, data) SELECT unnest($1::text[]), $2::jsonb RETURNING id
  )
  SELECT count(pg_notify('bench', id::text)) FROM inserted`;
/** Returns data of the same size as the data of a real session event. */
export const dataOf = (sessionId: string) => ({
  sessionId,
  userId: userId(0),
  gridLocationId: gridLocationId(0),
  tenantReference: 'customer 1',
  brand: null,
  metadata: {},
  state: 'online',
  previousState: 'awaiting_owner',
  basis: 'observed',
  rule: 'finished',
  inverters: [],
  invertersTotal: 0,
  observedAt: new Date().toISOString(),
});

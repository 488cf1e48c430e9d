import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventName } from '../../src/events/catalogue.rules.js';
import type { Database } from '../../src/platform/database/database.js';
import type { EventsServiceOptions } from '../events-service.process.js';
import type { ReceiverOptions } from '../harness/event-receiver.process.js';
import { append, dataOf, EVENT_OF, follow, newSubjects, NOTIFY_BARE, type Parts, take } from './parts.js';

export const RELAY = 'relay to a sink that does nothing';

const APPEND_AT_ONCE = 500;

export interface Burst {
  readonly name: string;
  readonly count: number;
  prepare(subjects: readonly string[]): Promise<void>;
  read(count: number): Promise<unknown>;
  after?(): Promise<unknown>;
}

export function burstsOf(parts: Parts, quick: boolean): Burst[] {
  const { service, receiver, listener, headers, database } = parts;
  const many = quick ? 2_000 : 50_000;
  const few = quick ? 500 : 5_000;
  const appendAll = async (name: EventName, subjects: readonly string[]): Promise<void> => {
    for (let from = 0; from < subjects.length; from += APPEND_AT_ONCE)
      await append(database, name, subjects.slice(from, from + APPEND_AT_ONCE));
  };
  const relay = (what: EventsServiceOptions['what'], count = 0) =>
    service.run(count, { what } satisfies EventsServiceOptions);
  const countAll = async (): Promise<number> => {
    const [row] = await database.query<{ count: number }>('SELECT count(*)::int AS count FROM domain_events');
    return row!.count;
  };
  return [
    {
      name: 'bare LISTEN/NOTIFY, inserted 500 at a time',
      count: many,
      prepare: async () => {},
      read: async (count) => {
        const arrived = listener.run(count);
        for (let sent = 0; sent < count; sent += APPEND_AT_ONCE) {
          const subjects = Array.from({ length: APPEND_AT_ONCE }, () => randomUUID());
          await database.query(NOTIFY_BARE, [subjects, JSON.stringify(dataOf(''))]);
        }
        await arrived;
      },
    },
    {
      name: RELAY,
      count: many,
      prepare: async (subjects) => {
        await relay('relayed', await countAll());
        await relay('hold');
        await appendAll('session.started', subjects);
      },
      read: async () => relay('relayed', await countAll()),
    },
    {
      name: 'stream, from the first of them',
      count: many,
      prepare: async (subjects) => {
        await appendAll(EVENT_OF.stream, subjects);
        await sleep(1_500);
      },
      read: async (count) => {
        await follow(receiver, service, headers, await sequenceBefore(database, count));
        await take(receiver, count, 'stream');
      },
      after: () => receiver.run(0, { kind: 'leave' } satisfies ReceiverOptions),
    },
    {
      name: 'handler, appended 500 at a time, each of another subject',
      count: few,
      prepare: async () => {},
      read: async (count) => {
        await appendAll(EVENT_OF.handler, newSubjects(count));
        await service.run(count, { what: 'handled' } satisfies EventsServiceOptions);
      },
    },
    {
      name: 'webhook, appended 500 at a time, each of another subject',
      count: few,
      prepare: async () => {},
      read: async (count) => {
        await appendAll(EVENT_OF.webhook, newSubjects(count));
        await take(receiver, count, 'webhooks');
      },
    },
  ];
}

export async function burstRound(burst: Burst): Promise<number> {
  await burst.prepare(newSubjects(burst.count));
  const startedAt = performance.now();
  await burst.read(burst.count);
  const elapsedMs = performance.now() - startedAt;
  await burst.after?.();
  return (burst.count * 1_000) / elapsedMs;
}

async function sequenceBefore(database: Database, events: number): Promise<string> {
  const [row] = await database.query<{ sequence: string }>(
    `SELECT (min(sequence) - 1)::text AS sequence
       FROM (SELECT sequence FROM domain_events WHERE name = $1 ORDER BY sequence DESC NULLS LAST LIMIT $2) AS last`,
    [EVENT_OF.stream, events],
  );
  return row!.sequence;
}

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { EventName, NewEvent } from '../src/events/catalogue.js';
import { appendEvents } from '../src/events/outbox.js';
import { Database } from '../src/platform/database/database.js';
import { Environment } from '../src/platform/env/environment.js';
import { type Arrival, sharedClockMs } from './harness/arrivals.js';
import type { EventsServiceOptions } from './events-service.process.js';
import type { ReceiverOptions } from './harness/event-receiver.process.js';
import { newKey, post } from './harness/key.js';
import { LineUp } from './harness/line-up.js';
import type { Participant } from './harness/participant.js';
import { report } from './harness/report.js';
import { atLeast, atMost } from './harness/result.js';
import { control, interleave, ratioOf } from './harness/rounds.js';
import { gridLocationId, userId } from './harness/sessions.js';
import { median, quantile, rounded } from './harness/statistics.js';
import type { BenchOptions } from './options.js';

const NOTIFY = 'bare LISTEN/NOTIFY';
const CONTROL = 'bare LISTEN/NOTIFY again';
const JOBS = 'bare graphile-worker';
const HANDLER = 'commit to handler';
const STREAM = 'commit to stream';
const WEBHOOK = 'commit to webhook';
const RELAY = 'relay to a sink that does nothing';

/** Each reader is told of events that no other asks for, so that it has the machine to itself. */
const EVENT_OF = { handler: 'session.online', stream: 'session.lost', webhook: 'session.expired' } as const;
type Reader = keyof typeof EVENT_OF;

/** Between two events whose latency is taken; longer than any of them takes. */
const PAUSE_MS = 10;
const APPEND_AT_ONCE = 500;

/** One way that an event takes: how it is committed, and who says what has arrived. */
interface Way {
  readonly name: string;
  /** Commits; answers when the commit was known, by the shared clock. */
  commit(subject: string): Promise<number>;
  arrived(count: number): Promise<Arrival[]>;
  before?(): Promise<void>;
  after?(): Promise<void>;
}

interface Burst {
  readonly name: string;
  readonly count: number;
  /** Has everything ready but for the reading. */
  prepare(subjects: readonly string[]): Promise<void>;
  read(count: number): Promise<unknown>;
  after?(): Promise<unknown>;
}

/** How soon each reader of the outbox has an event, and how many it takes. */
export async function eventsBench(options: BenchOptions): Promise<void> {
  const events = options.quick ? 20 : 200;
  await LineUp.with({ sessions: 1, remotes: [HANDLER] }, async (lineUp) => {
    const parts = await prepare(lineUp);
    try {
      const ways = waysOf(parts);
      const latencies = await interleave(
        ways.map((way) => ({ name: way.name, round: () => latencyRound(way, events) })),
        options.rounds,
      );
      const bursts = await interleave(
        burstsOf(parts, options).map((burst) => ({ name: burst.name, round: () => burstRound(burst) })),
        Math.min(options.rounds, 5),
      );
      const medians = (name: string) =>
        latencies.get(name)!.map((round) => median(round.map(({ sinceAppendMs }) => sinceAppendMs)));
      const against = (name: string) => ratioOf(medians(name), medians(NOTIFY));
      const rate = (name: string) => Math.round(median(bursts.get(name)!));
      await report({
        benchmark: 'events',
        title: 'Events',
        extent: `${events} events one by one a round, ${options.rounds} rounds; then all at once`,
        isQuick: options.quick,
        control: control(medians(NOTIFY), medians(CONTROL)),
        targets: [
          atMost('commit to handler, times bare LISTEN/NOTIFY', 3, against(HANDLER)),
          atMost('commit to stream, times bare LISTEN/NOTIFY', 3, against(STREAM)),
          atLeast('events/s through the relay to a sink that does nothing', 15_000, rate(RELAY)),
        ],
        tables: [
          {
            title: 'One event at a time',
            columns: [
              'until it is there',
              'since it was appended: ms, median',
              'ms, 99 %',
              'since its commit was known: ms, median',
              'ms, 99 %',
              'times bare LISTEN/NOTIFY, since the append',
            ],
            bar: 1,
            rows: [...latencies].map(([name, rounds]) => [
              name,
              ...pairOf(rounds.flat().map(({ sinceAppendMs }) => sinceAppendMs)),
              ...pairOf(rounds.flat().map(({ sinceCommitMs }) => sinceCommitMs)),
              against(name),
            ]),
          },
          {
            title: 'Many at once',
            columns: ['', 'events/s', 'least-most'],
            bar: 1,
            rows: [...bursts].map(([name, rates]) => [
              name,
              rate(name),
              `${Math.round(quantile(rates, 0))}-${Math.round(quantile(rates, 1))}`,
            ]),
          },
        ],
        packages: ['graphile-worker', 'pg', 'undici', '@nestjs/core'],
        postgresql: lineUp.server.version,
      });
    } finally {
      await parts.end();
    }
  });
}

async function prepare(lineUp: LineUp) {
  const database = await lineUp.database('events');
  const script = (file: string) => new URL(file, import.meta.url);
  const start = (file: string, environment = {}, concurrency = 10) =>
    lineUp.contender({ name: HANDLER, script: script(file), database, concurrency, environment });
  const service = await start('./events-service.process.ts', {
    ROLE: 'all',
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true',
    EVENT_BROKER_URL: 'nats://127.0.0.1:1',
  });
  const receiver = await start('./harness/event-receiver.process.ts');
  const listener = await start('./baselines/listener.process.ts');
  // Of its own database each, since the jobs of one are nothing to the other.
  const jobs = await lineUp.contender({
    name: HANDLER,
    script: script('./baselines/empty-jobs.process.ts'),
    database: await lineUp.database('jobs'),
    concurrency: 10,
  });
  const tunedDatabase = await lineUp.database('tuned_jobs');
  const tunedJobs = await lineUp.contender({
    name: HANDLER,
    script: script('./baselines/empty-jobs.process.ts'),
    database: tunedDatabase,
    concurrency: 10,
    environment: { TUNED: '1' },
  });
  const headers = await newKey(service.url, ['events:read']);
  await post(`${service.url}/api/v1/webhook-endpoints`, { url: receiver.url, types: [EVENT_OF.webhook] });

  const own = new Database(Object.assign(new Environment(), { DATABASE_URL: database.url }));
  const jobsPool = new pg.Pool({ connectionString: jobs.databaseUrl, max: 2 });
  const tunedPool = new pg.Pool({ connectionString: tunedJobs.databaseUrl, max: 2 });
  await own.query(
    'CREATE TABLE bare_events (id bigserial PRIMARY KEY, subject text NOT NULL, data jsonb NOT NULL)',
  );
  return {
    service,
    receiver,
    listener,
    jobs,
    tunedJobs,
    headers,
    database: own,
    jobsPool,
    tunedPool,
    end: async () => {
      await Promise.all([own.onApplicationShutdown(), jobsPool.end(), tunedPool.end()]);
    },
  };
}

type Parts = Awaited<ReturnType<typeof prepare>>;

function waysOf(parts: Parts): Way[] {
  const { service, receiver, listener, jobs, headers, database, jobsPool } = parts;
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
    {
      name: JOBS,
      arrived: (count) => jobs.run(count),
      commit: (subject) =>
        inTransaction(jobsPool, (client) =>
          client.query(`SELECT graphile_worker.add_job('empty', json_build_object('subject', $1::text))`, [
            subject,
          ]),
        ),
    },
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

function burstsOf(parts: Parts, { quick }: BenchOptions): Burst[] {
  const { service, receiver, listener, tunedJobs, tunedPool, headers, database } = parts;
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
      name: 'bare graphile-worker with its local queue, empty jobs',
      count: many,
      prepare: async (subjects) => {
        await tunedPool.query(ADD_EMPTY_JOBS, [subjects]);
      },
      read: async (count) => {
        await tunedPool.query(`UPDATE graphile_worker._private_jobs SET run_at = now()`);
        await tunedJobs.run(count);
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

/** Milliseconds until an event has arrived. */
interface Delay {
  readonly sinceAppendMs: number;
  readonly sinceCommitMs: number;
}

async function latencyRound(way: Way, events: number): Promise<Delay[]> {
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

/** Events per second. */
async function burstRound(burst: Burst): Promise<number> {
  await burst.prepare(newSubjects(burst.count));
  const startedAt = performance.now();
  await burst.read(burst.count);
  const elapsedMs = performance.now() - startedAt;
  await burst.after?.();
  return (burst.count * 1_000) / elapsedMs;
}

async function append(database: Database, name: EventName, subjects: readonly string[]): Promise<number> {
  let committedMs = 0;
  await database.transaction(async (tx) => {
    // The first of what runs after the commit.
    tx.afterCommit(() => void (committedMs = sharedClockMs()));
    await appendEvents(
      tx,
      subjects.map((subject) => ({ name, subject, data: dataOf(subject) }) as NewEvent),
    );
  });
  return committedMs;
}

async function inTransaction(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<unknown>,
): Promise<number> {
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

const take = (receiver: Participant, count: number, from: 'webhooks' | 'stream') =>
  receiver.run<Arrival[]>(count, { kind: 'take', from } satisfies ReceiverOptions);

async function follow(
  receiver: Participant,
  service: Participant,
  headers: Readonly<Record<string, string>>,
  after?: string,
): Promise<void> {
  const place = after === undefined ? '' : `&after=${after}`;
  const url = `${service.url}/api/v1/events/stream?types=${EVENT_OF.stream}${place}`;
  await receiver.run(0, { kind: 'follow', url, headers } satisfies ReceiverOptions);
}

async function sequenceBefore(database: Database, events: number): Promise<string> {
  const [row] = await database.query<{ sequence: string }>(
    `SELECT (min(sequence) - 1)::text AS sequence
       FROM (SELECT sequence FROM domain_events WHERE name = $1 ORDER BY sequence DESC NULLS LAST LIMIT $2) AS last`,
    [EVENT_OF.stream, events],
  );
  return row!.sequence;
}

const newSubjects = (count: number): string[] => Array.from({ length: count }, () => randomUUID());

const NOTIFY_BARE = `
  WITH inserted AS (
    INSERT INTO bare_events (subject, data) SELECT unnest($1::text[]), $2::jsonb RETURNING id
  )
  SELECT count(pg_notify('bench', id::text)) FROM inserted`;
const ADD_EMPTY_JOBS = `
  SELECT count(graphile_worker.add_job('empty', json_build_object('subject', subject), run_at => now() + interval '1 hour'))
    FROM unnest($1::text[]) AS subject`;

/** As large as the data of a session's event. */
const dataOf = (sessionId: string) => ({
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
  observedAt: new Date().toISOString(),
});

const pairOf = (times: readonly number[]): [number, number] => [
  rounded(median(times)),
  rounded(quantile(times, 0.99)),
];

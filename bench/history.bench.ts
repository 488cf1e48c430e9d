import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchDatabase } from './harness/database.js';
import { post } from './harness/key.js';
import { LineUp } from './harness/line-up.js';
import { showProgress } from './harness/progress.js';
import { report } from './harness/report.js';
import { atMost } from './harness/result.js';
import { DAY_SECONDS } from './harness/short-days.js';
import { median, rounded } from './harness/statistics.js';
import { userBodies } from './harness/user-bodies.js';
import type { BenchOptions } from './options.js';

const OURS = 'our service';
const SECONDS = 280;
const SAMPLE_EVERY_MS = 2_500;
const STARTS_PER_SECOND = 5;
const MEGABYTE = 2 ** 20;
const TABLES = [
  'domain_events',
  'webhook_deliveries',
  'session_observations',
  'session_transitions',
  'onboarding_sessions',
] as const;
type Table = (typeof TABLES)[number];

interface Sample {
  readonly atSeconds: number;
  /** Events appended since the start. */
  readonly events: number;
  readonly megabytes: Readonly<Record<Table, number>>;
  readonly rows: Readonly<Record<Table, number>>;
}

/** Starts sessions that come online and are closed, at a constant rate, and deletes their history by its age. */
export async function historyBench(options: BenchOptions): Promise<void> {
  const seconds = options.quick ? 20 : SECONDS;
  await LineUp.with({ sessions: 1, remotes: [OURS], asItComes: true }, async (lineUp) => {
    const database = await lineUp.database('history');
    // Scaled down as the days are.
    await database.query(`ALTER SYSTEM SET autovacuum_naptime = '1s'`);
    await database.query('SELECT pg_reload_conf()');
    const script = (file: string) => new URL(file, import.meta.url);
    const service = await lineUp.contender({
      name: OURS,
      script: script('./history-service.process.ts'),
      database,
      concurrency: 32,
      environment: {
        ROLE: 'all',
        WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true',
        POLL_MIN_INTERVAL_MS: '500',
        POLL_MAX_INTERVAL_MS: '500',
        SETTLE_HOURS: '0.001',
        RETENTION_OBSERVATIONS_DAYS: '1',
        RETENTION_DELIVERIES_DAYS: '1',
        RETENTION_EVENTS_DAYS: '2',
        RETENTION_SESSIONS_DAYS: '2',
      },
    });
    const receiver = await lineUp.contender({
      name: OURS,
      script: script('./harness/event-receiver.process.ts'),
      database,
      concurrency: 1,
    });
    await post(`${service.url}/api/v1/webhook-endpoints`, { url: receiver.url });

    const busy = new AbortController();
    const starts = startSessions(service.url, busy.signal);
    const samples: Sample[] = [];
    const startedAt = performance.now();
    const elapsed = () => (performance.now() - startedAt) / 1_000;
    while (elapsed() < seconds) {
      await sleep(Math.min(SAMPLE_EVERY_MS, (seconds * 1_000) / 8));
      samples.push(await take(database, elapsed()));
      showProgress(`${Math.round(elapsed())} of ${seconds} s`);
    }
    busy.abort();
    const started = await starts;
    showProgress('');

    const quarter = Math.floor(samples.length / 4);
    // The first half fills the tables.
    const early = samples.slice(-2 * quarter, -quarter);
    const late = samples.slice(-quarter);
    const middle = (list: readonly Sample[], of: (sample: Sample) => number) => median(list.map(of));
    const rate = (list: readonly Sample[]) =>
      (list.at(-1)!.events - list[0]!.events) / (list.at(-1)!.atSeconds - list[0]!.atSeconds);
    const control = rounded(rate(late) / rate(early));
    await report({
      benchmark: 'history',
      title: 'History',
      extent: `${Math.round(seconds / DAY_SECONDS)} days of ${DAY_SECONDS} s: ${started} sessions from start to closed, with one webhook endpoint; responses and deliveries are stored for 1 day, events and sessions for 2`,
      isTrial: options.quick,
      control: { ratio: control, least: 0.9, most: 1.1, isValid: control >= 0.9 && control <= 1.1 },
      targets: TABLES.map((table) =>
        atMost(
          `${table} with its indexes, last quarter, times the third`,
          1.1,
          rounded(middle(late, (s) => s.megabytes[table]) / middle(early, (s) => s.megabytes[table])),
        ),
      ),
      tables: [
        {
          title: 'By quarters of the run, medians',
          columns: ['', 'rows, third', 'rows, last', 'MB, third', 'MB, last'],
          rows: TABLES.map((table) => [
            table,
            Math.round(middle(early, (s) => s.rows[table])),
            Math.round(middle(late, (s) => s.rows[table])),
            rounded(middle(early, (s) => s.megabytes[table])),
            rounded(middle(late, (s) => s.megabytes[table])),
          ]),
        },
        {
          title: 'Events',
          columns: ['', 'third', 'last'],
          rows: [
            ['appended per second', rounded(rate(early)), rounded(rate(late))],
            ['appended since the start', early.at(-1)!.events, late.at(-1)!.events],
          ],
        },
      ],
      packages: ['@nestjs/core', 'pg'],
      postgresql: lineUp.server.version,
      details: { samples },
    });
  });
}

/** Registers users and starts a session for each. Returns the number of started sessions. */
async function startSessions(url: string, stop: AbortSignal): Promise<number> {
  let users = 0;
  for (; !stop.aborted; users += STARTS_PER_SECOND) {
    const second = sleep(1_000);
    await Promise.all(
      userBodies(STARTS_PER_SECOND, users).map(async (body) => {
        const user = await post<{ gridLocations: { id: string }[] }>(
          `${url}/api/v1/users`,
          JSON.parse(body.replace(/"ean":(\d+)/g, '"ean":"$1"')) as object,
        );
        await post(`${url}/api/v1/onboarding/pv/${user.gridLocations[0]!.id}`, {});
      }),
    );
    await second;
  }
  return users;
}

async function take(database: BenchDatabase, atSeconds: number): Promise<Sample> {
  const sizes = await database.query<{ table: Table; megabytes: number; rows: number }>(
    TABLES.map(
      (table) =>
        `SELECT '${table}' AS "table", pg_total_relation_size('${table}')::float8 / ${MEGABYTE} AS megabytes, count(*)::int AS rows FROM ${table}`,
    ).join(' UNION ALL '),
  );
  const [appended] = await database.query<{ events: number }>(
    'SELECT coalesce(max(sequence), 0)::int AS events FROM domain_events',
  );
  const by = (of: (size: (typeof sizes)[number]) => number) =>
    Object.fromEntries(sizes.map((size) => [size.table, of(size)])) as Record<Table, number>;
  return { atSeconds, events: appended!.events, megabytes: by((s) => s.megabytes), rows: by((s) => s.rows) };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchDatabase } from './harness/database.js';
import { newKey } from './harness/key.js';
import { LineUp } from './harness/line-up.js';
import { load, startLoad } from './harness/load/load.js';
import type { Participant } from './harness/participant.js';
import { showProgress } from './harness/progress.js';
import { report } from './harness/report.js';
import { atMost } from './harness/result.js';
import { sessionId } from './harness/sessions.js';
import { userBodies } from './harness/user-bodies.js';
import { median, rounded, slope } from './harness/statistics.js';
import { type BenchOptions, profileFlags } from './options.js';

/** The minimum duration of a valid run. */
const LEAST_MINUTES = 20;
const OURS = 'our service';
const SESSIONS = 40_000;
/** 40,000 sessions, each read every 10 s, make 4,000 reads per second. */
const READ_EVERY_MS = 10_000;
const SAMPLE_EVERY_MS = 5_000;
const GETS_PER_SECOND = 100;
const USERS_PER_SECOND = 10;
const MEGABYTE = 2 ** 20;
/** Tables whose rows are often updated, or inserted and deleted. */
const TABLES = ['session_polls', 'onboarding_sessions', 'poll_batches', 'registrations', '_private_jobs'];

interface Sample {
  readonly atSeconds: number;
  readonly reads: number;
  readonly residentMegabytes: number;
  /** For how long the most overdue session has been due. */
  readonly lagMs: number;
  readonly pollsMegabytes: number;
  /** Dead rows of all TABLES. */
  readonly deadRows: number;
}

/** Runs polling, requests and registrations together for a long time, to detect growth and leaks. */
export async function soakBench(options: BenchOptions): Promise<void> {
  const seconds = options.minutes * 60;
  await LineUp.with({ sessions: SESSIONS, remotes: [OURS], asItComes: true }, async (lineUp) => {
    const database = await lineUp.database('soak');
    const service = await lineUp.contender({
      name: OURS,
      script: new URL('./service.process.ts', import.meta.url),
      database,
      concurrency: 64,
      environment: {
        ROLE: 'all',
        POLL_MIN_INTERVAL_MS: String(READ_EVERY_MS),
        POLL_MAX_INTERVAL_MS: String(READ_EVERY_MS),
        POLL_TICK_MS: '250',
      },
      flags: profileFlags(options),
    });
    // Spreads the due times over one interval, as the poller does.
    await database.query(
      `UPDATE session_polls SET due_at = clock_timestamp() + random() * $1 * interval '1 millisecond'`,
      [READ_EVERY_MS],
    );
    const busy = new AbortController();
    const others = workBeside(service, busy.signal);
    const samples: Sample[] = [];
    const startedAt = performance.now();
    await lineUp.remote.flow(OURS);
    while (performance.now() - startedAt < seconds * 1_000) {
      await sleep(Math.min(SAMPLE_EVERY_MS, (seconds * 1_000) / 8));
      const { requests } = await lineUp.remote.flow(OURS);
      samples.push(await take(database, service, requests, (performance.now() - startedAt) / 1_000));
      showProgress(`${Math.round(samples.at(-1)!.atSeconds)} of ${seconds} s`);
    }
    busy.abort();
    await others;
    showProgress('');

    const { second, fourth } = quarters(samples);
    const rate = (list: readonly Sample[]) =>
      median(list.map((sample) => sample.reads / (sample.atSeconds - (before(samples, sample) ?? 0))));
    const growth = (of: (sample: Sample) => number) => median(fourth.map(of)) - median(second.map(of));
    const times = (of: (sample: Sample) => number) =>
      rounded(median(fourth.map(of)) / Math.max(1e-9, median(second.map(of))));
    const control = rounded(rate(fourth) / rate(second));
    const late = samples.slice(samples.length >> 1);
    await report({
      benchmark: 'soak',
      title: 'Long run',
      extent: `${options.minutes} minutes: ${SESSIONS} sessions read every ${READ_EVERY_MS / 1_000} s, ${GETS_PER_SECOND} requests and ${USERS_PER_SECOND} registrations a second`,
      isTrial: options.isTrial || options.minutes < LEAST_MINUTES,
      control: { ratio: control, least: 0.93, most: 1.07, isValid: control >= 0.93 && control <= 1.07 },
      targets: [
        atMost(
          'more memory resident in the last quarter than in the second',
          16,
          rounded(growth(({ residentMegabytes }) => residentMegabytes)),
          'MB',
        ),
        atMost(
          'session_polls with its indexes, last quarter, times the second',
          1.1,
          times(({ pollsMegabytes }) => pollsMegabytes),
        ),
        atMost(
          'more lag in the last quarter than in the second',
          250,
          rounded(growth(({ lagMs }) => lagMs)),
          'ms',
        ),
      ],
      tables: [
        {
          title: 'By quarters of the run, medians',
          columns: ['', 'second', 'last'],
          rows: [
            ['reads/s', Math.round(rate(second)), Math.round(rate(fourth))],
            ...(
              [
                ['resident MB', 'residentMegabytes'],
                ['lag ms', 'lagMs'],
                ['session_polls with its indexes MB', 'pollsMegabytes'],
                ['rows that await their vacuum', 'deadRows'],
              ] as const
            ).map(([name, of]): [string, number, number] => [
              name,
              rounded(median(second.map((sample) => sample[of]))),
              rounded(median(fourth.map((sample) => sample[of]))),
            ]),
            [
              'memory slope of the second half, MB per hour',
              null,
              rounded(
                3_600 *
                  slope(
                    late.map(({ atSeconds }) => atSeconds),
                    late.map(({ residentMegabytes }) => residentMegabytes),
                  ),
              ),
            ],
          ],
        },
      ],
      packages: ['@nestjs/core', 'pg', 'axios', 'undici', 'graphile-worker'],
      postgresql: lineUp.server.version,
      details: { samples, vacuums: await vacuums(database) },
    });
  });
}

async function workBeside(service: Participant, stop: AbortSignal): Promise<void> {
  const generator = await startLoad(service.url, 8);
  const headers = await newKey(service.url, ['users:write', 'onboarding:read']);
  const paths = Array.from(
    { length: GETS_PER_SECOND },
    (_, nth) => `/api/v1/onboarding/pv/${sessionId(nth * 97)}`,
  );
  for (let users = 0; !stop.aborted; users += USERS_PER_SECOND) {
    const second = sleep(1_000);
    await load(generator, GETS_PER_SECOND, { method: 'GET', paths, headers });
    const bodies = userBodies(USERS_PER_SECOND, users);
    await load(
      generator,
      USERS_PER_SECOND,
      {
        method: 'POST',
        paths: ['/api/v1/users'],
        bodies,
        headers: { ...headers, 'content-type': 'application/json' },
      },
      [201],
    );
    await second;
  }
  await generator.stop();
}

async function take(database: BenchDatabase, service: Participant, reads: number, atSeconds: number) {
  const { residentBytes } = await service.costs();
  const [row] = await database.query<Pick<Sample, 'lagMs' | 'pollsMegabytes' | 'deadRows'>>(
    `SELECT greatest(0, (SELECT extract(epoch FROM clock_timestamp() - min(due_at)) * 1000 FROM session_polls))::float8 AS "lagMs",
            pg_total_relation_size('session_polls')::float8 / ${MEGABYTE} AS "pollsMegabytes",
            (SELECT sum(n_dead_tup)::int FROM pg_stat_user_tables WHERE relname = ANY ($1)) AS "deadRows"`,
    [TABLES],
  );
  return { atSeconds, reads, residentMegabytes: residentBytes / MEGABYTE, ...row! };
}

/** Returns the second and the last quarter of the samples. The first quarter is a warm-up. */
function quarters(samples: readonly Sample[]) {
  const quarter = Math.floor(samples.length / 4);
  return { second: samples.slice(quarter, 2 * quarter), fourth: samples.slice(-quarter) };
}

const before = (samples: readonly Sample[], sample: Sample): number | undefined =>
  samples[samples.indexOf(sample) - 1]?.atSeconds;

const vacuums = (database: BenchDatabase) =>
  database.query(
    `SELECT relname AS "table", autovacuum_count::int AS vacuums, n_live_tup::int AS live, n_dead_tup::int AS dead,
            pg_table_size(relid)::float8 AS "bytes", pg_indexes_size(relid)::float8 AS "indexBytes"
       FROM pg_stat_user_tables WHERE n_tup_ins + n_tup_upd > 0 ORDER BY relname`,
  );

import { Pool } from 'undici';
import type { BenchDatabase } from './harness/database.js';
import { newKey } from './harness/key.js';
import { LineUp } from './harness/line-up.js';
import { load, type Load, startLoad } from './harness/load/load.js';
import type { Participant } from './harness/participant.js';
import { report } from './harness/report.js';
import { atLeast, atMost } from './harness/result.js';
import { control, interleave, rateOf, rateTable, ratio, type Sample } from './harness/rounds.js';
import { gridLocationId, sessionId } from './harness/sessions.js';
import { median, medianAndTail, rounded } from './harness/statistics.js';
import { type BenchOptions, profileFlags } from './options.js';

const OURS = 'our service, with its key checked';
const BARE = 'bare Fastify + pg, the same statement';
const ROW = 'bare Fastify + pg, one row of one table';
const NEST = 'Nest + Express + Prisma';
const CONTROL = 'our service again';
const IN_FLIGHT = 64;
/** The latency of the remote service while starts are measured. */
const REMOTE_MS = 20;
const STARTS_AT_ONCE = [1, 4];
const PAGE = 50;

interface Timed {
  readonly latenciesMs: readonly number[];
}

export async function apiBench(options: BenchOptions): Promise<void> {
  const sessions = options.quick ? 20_000 : 1_000_000;
  await LineUp.with({ sessions, remotes: [OURS, BARE] }, async (lineUp) => {
    const database = await lineUp.database('api');
    const script = (file: string) => new URL(file, import.meta.url);
    const start = (name: string, file: string, environment = {}, flags: readonly string[] = []) =>
      lineUp.contender({ name, script: script(file), database, concurrency: IN_FLIGHT, environment, flags });
    const ours = await start(OURS, './service.process.ts', { ROLE: 'api' }, profileFlags(options));
    const bare = await start(BARE, './baselines/fastify-pg.process.ts');
    const nest = await start(BARE, './baselines/nest-express-prisma.process.ts');
    const headers = await newKey(ours.url, ['onboarding:read', 'onboarding:write']);

    const reads = await compareReads(lineUp, { ours, bare, nest }, headers, sessions, options);
    const single = await compareSingles(ours.url, headers, sessions, options);
    lineUp.remote.setLatency(REMOTE_MS);
    const bareStart = await start(BARE, './baselines/fastify-start.process.ts');
    const starts = await compareStarts(
      database,
      { ours: ours.url, bare: bareStart.url, remote: lineUp.remote.url(BARE) },
      headers,
      options,
    );

    const rates = reads.get(OURS)!;
    const one = starts.get(1)!;
    await report({
      benchmark: 'api',
      title: 'API',
      extent: `${sessions} sessions, ${IN_FLIGHT} requests in flight for rates, one for latencies, ${options.rounds} rounds`,
      isTrial: options.isTrial,
      control: control(rates.map(rateOf), reads.get(CONTROL)!.map(rateOf)),
      targets: [
        atLeast('GET one session, of bare Fastify + pg', 0.5, ratio(rates, reads.get(BARE)!)),
        atMost(
          "POST start, one at a time, added to the remote's own time at the median",
          15,
          rounded(one.ours - one.remote),
          'ms',
        ),
      ],
      tables: [
        rateTable('GET one session', 'request', reads, [OURS, 'ours against it']),
        {
          title: 'One request at a time',
          columns: ['request', 'median ms', '99 % ms'],
          rows: [
            ['GET one session', ...tailOf(single.one)],
            [`GET the first ${PAGE} of all`, ...tailOf(single.first)],
            [`GET ${PAGE} from the middle`, ...tailOf(single.middle)],
          ],
        },
        {
          title: `POST start of a session, by a remote service that takes ${REMOTE_MS} ms`,
          columns: [
            'at once',
            'the remote service itself ms',
            'bare Fastify + pg + undici ms',
            'ours ms',
            'bare adds ms',
            'ours adds ms',
          ],
          rows: [...starts].map(([atOnce, { remote, bare, ours }]) => [
            atOnce,
            ...[remote, bare, ours, bare - remote, ours - remote].map((milliseconds) =>
              rounded(milliseconds),
            ),
          ]),
        },
      ],
      packages: ['@nestjs/core', 'fastify', 'pg', '@nestjs/platform-express', '@prisma/client'],
      postgresql: lineUp.server.version,
    });
  });
}

interface Servers {
  readonly ours: Participant;
  readonly bare: Participant;
  readonly nest: Participant;
}

async function compareReads(
  lineUp: LineUp,
  { ours, bare, nest }: Servers,
  headers: Record<string, string>,
  sessions: number,
  options: BenchOptions,
) {
  const requests = options.quick ? 3_000 : 20_000;
  const ids = Array.from({ length: requests }, (_, nth) => sessionId((nth * 7_919) % sessions));
  const generators: Participant[] = [];
  const contender = async (name: string, server: Participant, prefix: string, count = requests) => {
    const generator = await startLoad(server.url, IN_FLIGHT);
    generators.push(generator);
    const what: Load = { method: 'GET', paths: ids.map((id) => prefix + id), headers };
    return {
      name,
      round: (): Promise<Sample> => lineUp.measure(count, server, () => load(generator, count, what)),
    };
  };
  const contenders = [
    await contender(OURS, ours, '/api/v1/onboarding/pv/'),
    await contender(BARE, bare, '/full/'),
    await contender(ROW, bare, '/row/'),
    await contender(NEST, nest, '/sessions/', Math.round(requests / 4)),
    await contender(CONTROL, ours, '/api/v1/onboarding/pv/'),
  ];
  const samples = await interleave(contenders, options.rounds);
  for (const generator of generators) await generator.stop();
  return samples;
}

/** Measures latencies: sends one request at a time. */
async function compareSingles(
  url: string,
  headers: Record<string, string>,
  sessions: number,
  options: BenchOptions,
) {
  const count = options.quick ? 50 : 300;
  const generator = await startLoad(url, 1);
  const list = `/api/v1/onboarding/pv?limit=${PAGE}`;
  const middle = `${list}&cursor=${await cursorAfter(url, headers, options.quick ? 20 : 100)}`;
  const one = Array.from(
    { length: count },
    (_, nth) => `/api/v1/onboarding/pv/${sessionId((nth * 7_919) % sessions)}`,
  );
  const contender = (name: string, paths: readonly string[]) => ({
    name,
    round: (): Promise<Timed> => load(generator, count, { method: 'GET', paths, headers }),
  });
  const samples = await interleave(
    [contender('one', one), contender('first', [list]), contender('middle', [middle])],
    options.rounds,
  );
  await generator.stop();
  return { one: samples.get('one')!, first: samples.get('first')!, middle: samples.get('middle')! };
}

async function cursorAfter(url: string, headers: Record<string, string>, pages: number): Promise<string> {
  const pool = new Pool(url);
  let cursor = '';
  for (let page = 0; page < pages; page++) {
    const path = `/api/v1/onboarding/pv?limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const { body } = await pool.request({ method: 'GET', path, headers });
    const { next } = (await body.json()) as { next: string | null };
    if (next === null) break;
    cursor = encodeURIComponent(next);
  }
  await pool.close();
  return cursor;
}

/** Returns median latencies of starts in milliseconds, by concurrency. Each start is for another location, which has no open session of the brand. */
async function compareStarts(
  database: BenchDatabase,
  urls: { readonly ours: string; readonly bare: string; readonly remote: string },
  headers: Record<string, string>,
  options: BenchOptions,
): Promise<Map<number, Record<keyof typeof urls, number>>> {
  const count = options.quick ? 40 : 200;
  let next = 0;
  const paths = (prefix: string) =>
    Array.from({ length: count }, () => `${prefix}/${gridLocationId(next++)}`);
  const medians = new Map<number, Record<keyof typeof urls, number>>();
  for (const atOnce of STARTS_AT_ONCE) {
    const generators = await Promise.all(
      [urls.remote, urls.bare, urls.ours].map((url) => startLoad(url, atOnce)),
    );
    const [remote, bare, ours] = generators;
    const post = (generator: Participant, prefix: string, status = 200, more: Partial<Load> = {}) =>
      load(generator, count, { method: 'POST', paths: paths(prefix), ...more }, [status]);
    const json = { ...headers, 'content-type': 'application/json' };
    const postOurs = (): Promise<Timed> =>
      post(ours!, '/api/v1/onboarding/pv', 201, { bodies: ['{"brand":"another"}'], headers: json });
    // PostgreSQL planned the statements while the tables were empty. ANALYZE causes new plans, as autovacuum does in production.
    await postOurs();
    await database.query('ANALYZE');
    const samples = await interleave<Timed>(
      [
        { name: 'remote', round: () => post(remote!, '/api/v1/ssa/onboarding/pv') },
        { name: 'bare', round: () => post(bare!, '/start') },
        { name: 'ours', round: postOurs },
      ],
      options.rounds,
    );
    await Promise.all(generators.map((generator) => generator.stop()));
    const middle = (name: string) => median(samples.get(name)!.map(({ latenciesMs }) => median(latenciesMs)));
    medians.set(atOnce, { ours: middle('ours'), bare: middle('bare'), remote: middle('remote') });
  }
  return medians;
}

const tailOf = (samples: readonly Timed[]): [number, number] =>
  medianAndTail(samples.flatMap(({ latenciesMs }) => latenciesMs));

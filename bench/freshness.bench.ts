import { DAY, lifeAt, OF_DAYS, OF_HOURS, OWNERS, POPULATIONS, WATCHED } from './freshness/populations.js';
import type { Life, Population } from './freshness/populations.js';
import { seeded, type Random } from './freshness/random.js';
import {
  follow,
  followAtMost,
  habitsOf,
  LEARNED,
  OTHERS,
  OTHERS_AT_BUDGET,
  OURS,
  SETTINGS,
  YOUNG,
  type Figures,
  type HabitsOf,
  type Schedule,
} from './freshness/schedules.js';
import { Service, Session } from './freshness/service.js';
import { showProgress } from './harness/progress.js';
import { report } from './harness/report.js';
import { atMost } from './harness/result.js';
import { control } from './harness/rounds.js';
import { quantile, rounded } from './harness/statistics.js';
import type { BenchOptions } from './options.js';

/*
 * How soon a change is noticed, simulated with the real rules of the schedule, the read budget and the lanes, and scripted populations.
 *
 * What is not simulated: the claim's SQL (its order is stated again in service.ts), batches, leases, replicas, the latency of reads, failed
 * reads, reads for callers, settling sessions, and the share of the budget that registrations and starts take. The populations are assumed,
 * not observed. A session has one change; in reality, the owner's change starts the wait for the installer.
 */

/** Three fifths of all sessions await their owner. */
const MIX = [OWNERS, OWNERS, OWNERS, OF_HOURS, OF_DAYS];
/** Points with the same ratio of sessions to budget give the same result, so only the smallest of them is simulated. */
// 1 million sessions at 2 reads per second are missing: 6 sessions start per second, so not even one read of each is possible.
const POINTS = [
  { sessions: 1_000, perSecond: 200, alike: [] },
  { sessions: 1_000, perSecond: 20, alike: ['10,000 at 200'] },
  { sessions: 1_000, perSecond: 2, alike: ['10,000 at 20', '100,000 at 200'] },
  { sessions: 10_000, perSecond: 2, alike: ['100,000 at 20', '1,000,000 at 200'] },
  { sessions: 100_000, perSecond: 2, alike: ['1,000,000 at 20'] },
] as const;
/** The simulated time before the measurement. At its end, the first sessions have ended, and as many sessions end as start. */
const WARM_UP = 9 * DAY;
const RECORDED = 3 * DAY;

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

export async function freshnessBench(options: BenchOptions): Promise<void> {
  const count = options.quick ? 200 : 1_000;
  const alone = POPULATIONS.map((population) => {
    showProgress(population.name);
    return { population, ...compareAlone(population, count) };
  });
  const points = (options.quick ? POINTS.slice(2, 3) : POINTS).map((point) => {
    showProgress(`${point.sessions} sessions at ${point.perSecond}/s`);
    return [titleOf(point), ...compareAtBudget(point.sessions, point.perSecond, count)];
  });
  showProgress('');
  await report({
    benchmark: 'freshness',
    title: 'How soon a change is noticed',
    extent: `simulated: ${count} sessions per population; budgets with up to 100000 open sessions, recorded for 3 days`,
    isTrial: options.isTrial,
    control: control(meansOf(3 * count, 1), meansOf(3 * count, 2)),
    targets: alone.map(({ population: { name }, learned, others }) =>
      atMost(
        `${name}: our mean delay, learned, of the optimum's in our limits`,
        1.25,
        rounded(learned.mean / others[1]!.mean),
      ),
    ),
    tables: [
      {
        title: 'At equal reads, without a budget',
        columns: ['', 'reads per session', 'mean s', 'p95 s', "mean, of the optimum's", 'reads for our mean'],
        rows: alone.flatMap(({ population, learned, ours, others }) =>
          [learned, ours, ...others].map(({ name, reads, mean, p95, readsForOurs }) => [
            `${name}: ${population.name}`,
            rounded(reads),
            rounded(mean),
            rounded(p95),
            rounded(mean / others[0]!.mean),
            rounded(readsForOurs),
          ]),
        ),
      },
      {
        title: 'At a budget, owners and installers mixed',
        columns: [
          'open sessions at reads per second',
          'stretch',
          'without habits',
          'used budget',
          'reads per session',
          'learned: mean s',
          'p95 s',
          'ours: mean s',
          'p95 s',
          ...OTHERS_AT_BUDGET.flatMap(({ name }) => [`${name}: mean s`, 'p95 s']),
          'learned, younger than 10 minutes: p95, of floor × stretch',
        ],
        rows: points,
      },
    ],
    packages: [],
  });
}

/** Returns sessions of each population. Their changes are spread evenly over the distribution. */
const livesOf = (populations: readonly Population[], count: number, random: Random): Life[] =>
  Array.from({ length: count }, (_, i) =>
    lifeAt(populations[i % populations.length]!, (i + random()) / count),
  );

/** Returns the mean delays of our schedule, by population. */
const meansOf = (count: number, seed: number): number[] =>
  POPULATIONS.map((population) =>
    mean(follow(livesOf([population], count, seeded(seed)), OURS, 1, seeded(seed)).delays),
  );

const summaryOf = (name: string, { readsPerSession, delays }: Figures) => ({
  name,
  reads: readsPerSession,
  mean: mean(delays),
  p95: quantile(delays, 0.95),
});

function compareAlone(population: Population, count: number) {
  const lives = livesOf([population], count, seeded(1));
  const learned = summaryOf(LEARNED.name, follow(lives, LEARNED, 1, seeded(1)));
  const compare = (schedule: Schedule) => {
    const atEqualReads = followAtMost(
      lives,
      schedule,
      ({ readsPerSession }) => readsPerSession < learned.reads,
    );
    const atEqualMean = followAtMost(lives, schedule, ({ delays }) => mean(delays) > learned.mean);
    return { ...summaryOf(schedule.name, atEqualReads), readsForOurs: atEqualMean.readsPerSession };
  };
  return {
    learned: { ...learned, readsForOurs: learned.reads },
    ours: compare(OURS),
    others: OTHERS.map(compare),
  };
}

const titleOf = ({ sessions, perSecond, alike }: (typeof POINTS)[number]) =>
  [`${sessions.toLocaleString('en')} at ${perSecond}`, ...alike].join('; ');

/** Yields sessions that start at random times, at the rate at which about `open` of them are open. */
function* startsOf(open: number, random: Random): Generator<Session, never> {
  const watched = mean(livesOf(MIX, 50_000, random).map(({ changeAt }) => Math.min(changeAt, WATCHED)));
  for (let at = 0; ; at -= (Math.log(random()) * watched) / open)
    yield new Session(lifeAt(MIX[Math.floor(random() * MIX.length)]!, random()), at);
}

function compareAtBudget(open: number, perSecond: number, count: number): (number | null)[] {
  const serve = (habits?: HabitsOf) => {
    const service = new Service({ settings: SETTINGS, perSecond, recordFrom: WARM_UP, habits }, seeded(1));
    service.run(startsOf(open, seeded(2)), WARM_UP + RECORDED);
    return service;
  };
  const delaysOf = ({ ended }: Service) =>
    ended.filter(({ life }) => life.changeAt < Infinity).map(({ delay }) => delay);
  const service = serve(habitsOf);
  const unlearned = serve();
  const changed = service.ended.filter(({ life }) => life.changeAt < Infinity);
  const reads = service.reads / service.ended.length;
  const ours = summaryOf(LEARNED.name, { readsPerSession: reads, delays: delaysOf(service) });
  const without = summaryOf(OURS.name, { readsPerSession: reads, delays: delaysOf(unlearned) });
  const lives = livesOf(MIX, count, seeded(4));
  const others = OTHERS_AT_BUDGET.map((schedule) =>
    summaryOf(
      schedule.name,
      followAtMost(lives, schedule, ({ readsPerSession }) => readsPerSession < reads),
    ),
  );
  const { stretch } = service;
  const young = changed.filter(({ life }) => life.changeAt < YOUNG).map(({ delay }) => delay);
  return [
    stretch,
    unlearned.stretch,
    service.reads / RECORDED / perSecond,
    reads,
    ...[ours, without, ...others].flatMap(({ mean, p95 }) => [mean, p95]),
    (quantile(young, 0.95) * 1_000) / SETTINGS.minIntervalMs / stretch,
  ].map((value) => rounded(value));
}

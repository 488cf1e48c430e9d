import { setTimeout as sleep } from 'node:timers/promises';
import { runCampaign, nextUser } from './campaigns.bench.js';
import { latencyRound, HANDLER, STREAM, waysOf, WEBHOOK } from './events/one-by-one.js';
import { prepareParts, UNUSED_REMOTE } from './events/parts.js';
import { newKey } from './harness/key.js';
import { LineUp } from './harness/line-up.js';
import { load, startLoad } from './harness/load/load.js';
import { report } from './harness/report.js';
import { atMost } from './harness/result.js';
import type { Sample } from './harness/rounds.js';
import { gridLocationId } from './harness/sessions.js';
import { rounded } from './harness/statistics.js';
import type { BenchOptions } from './options.js';

const UNCHANGED = 'unchanged polls';
const CHANGED = 'changed polls';
const API = 'requests';
const ROLES = ['api', 'worker', 'all'] as const;
/** A backend reports its commits within this time. */
const STATISTICS_MS = 1_500;
/** A new process asks more at first. */
const SETTLED_MS = 5_000;

/** The fewest commits that are safe: one before a remote call, and one with its outcome. */
const LEAST = {
  call: '2 commits',
  poll: '1 commit per claim',
  changed: '2 commits per set',
  event: '1 commit',
  idle: '0',
};

interface Cost {
  readonly name: string;
  readonly least: string;
  readonly sample: Sample;
}

/** Counts what a piece of work costs. Counts are the same on any machine; the CPU time is not. */
export async function costsBench(options: BenchOptions): Promise<void> {
  const count = options.quick ? 50 : 500;
  const idleSeconds = options.quick ? 10 : 60;
  const remotes = [API, UNCHANGED, CHANGED, UNUSED_REMOTE, ...ROLES];
  await LineUp.with({ sessions: 4 * count, remotes }, async (lineUp) => {
    const costs: Cost[] = [];
    const add = async (name: string, least: string, work: () => Promise<Sample>) => {
      costs.push({ name, least, sample: await work() });
    };
    await requests(lineUp, count, add);
    await polls(lineUp, count, add);
    await events(lineUp, Math.min(count, 100), add);
    for (const role of ROLES)
      await add(`an idle second, ROLE=${role}`, LEAST.idle, () => idle(lineUp, role, idleSeconds));
    const tripsOf = (wanted: string) => {
      const { sample } = costs.find(({ name }) => name === wanted)!;
      return rounded(sample.roundTrips / sample.count);
    };
    await report({
      benchmark: 'costs',
      title: 'Costs',
      extent: `${count} of each, one after the other; ${idleSeconds} idle seconds; all with what the process asks while it is idle`,
      isTrial: options.isTrial,
      control: { ratio: 1, least: 1, most: 1, isValid: true },
      targets: [atMost('round trips of an idle second, ROLE=api', 2, tripsOf('an idle second, ROLE=api'))],
      tables: [
        {
          title: 'Costs',
          columns: [
            '',
            'round trips',
            'commits',
            'WAL bytes',
            'own CPU µs',
            'PostgreSQL CPU µs',
            'least that is safe',
          ],
          rows: costs.map(({ name, least, sample }) => {
            const each = (value: number | null) => (value === null ? null : rounded(value / sample.count));
            const { roundTrips, commits, walBytes, cpuMicroseconds, serverCpuMicroseconds } = sample;
            return [
              name,
              each(roundTrips),
              each(commits),
              each(walBytes),
              each(cpuMicroseconds),
              each(serverCpuMicroseconds),
              least,
            ];
          }),
        },
      ],
      packages: ['@nestjs/core', 'fastify', 'pg', 'undici'],
      postgresql: lineUp.server.version,
    });
  });
}

type Add = (name: string, least: string, work: () => Promise<Sample>) => Promise<void>;

const SERVICE = new URL('./service.process.ts', import.meta.url);

async function requests(lineUp: LineUp, count: number, add: Add): Promise<void> {
  const database = await lineUp.database('requests', 2 * count);
  const service = await lineUp.contender({
    name: API,
    script: SERVICE,
    database,
    concurrency: 32,
    environment: { ROLE: 'all', EAN_CHECK_DIGIT: 'off' },
    countsRoundTrips: true,
  });
  const headers = await newKey(service.url, ['users:write', 'onboarding:read', 'onboarding:write']);
  const generator = await startLoad(service.url, 1);
  const json = { ...headers, 'content-type': 'application/json' };
  const post = (paths: readonly string[], bodies: readonly object[], status: number) =>
    load(
      generator,
      paths.length,
      { method: 'POST', paths, bodies: bodies.map((body) => JSON.stringify(body)), headers: json },
      [status],
    ).then(() => sleep(STATISTICS_MS));
  const measure = (work: () => Promise<unknown>) => lineUp.measure(count, service, work);
  const register = (some: number) =>
    post(
      Array.from({ length: some }, () => '/api/v1/users'),
      Array.from({ length: some }, nextUser),
      201,
    );
  await register(10);
  await add('a registration', LEAST.call, () => measure(() => register(count)));
  const starts = (from: number, to: number) =>
    post(
      Array.from({ length: to - from }, (_, i) => `/api/v1/onboarding/pv/${gridLocationId(from + i)}`),
      Array.from({ length: to - from }, () => ({ brand: 'sunward' })),
      201,
    );
  await starts(0, 10);
  await add('a start', LEAST.call, () => measure(() => starts(10, 10 + count)));
  await add('a row of a campaign', LEAST.call, () =>
    measure(() => runCampaign(service.url, headers, database, count).then(() => sleep(STATISTICS_MS))),
  );
  await generator.stop();
  await lineUp.dismiss(service);
}

async function polls(lineUp: LineUp, count: number, add: Add): Promise<void> {
  for (const [name, least] of [
    [UNCHANGED, LEAST.poll],
    [CHANGED, LEAST.changed],
  ] as const) {
    const database = await lineUp.database(name.replace(' ', '_'), count);
    const worker = await lineUp.contender({
      name,
      script: SERVICE,
      database,
      concurrency: 64,
      countsRoundTrips: true,
    });
    const poll = async (): Promise<Sample> => {
      const read = lineUp.remote.counted(name, count);
      const commit = await database.prepareDue();
      return lineUp.measure(count, worker, async () => {
        await commit();
        await read;
        await database.untilNoneIsClaimed();
        await sleep(STATISTICS_MS);
      });
    };
    // The first response of a session counts as a change.
    if (name === UNCHANGED) await poll();
    await add(name === UNCHANGED ? 'an unchanged poll' : 'a changed poll', least, poll);
    await lineUp.dismiss(worker);
  }
}

async function events(lineUp: LineUp, count: number, add: Add): Promise<void> {
  const parts = await prepareParts(lineUp, true);
  const ways = waysOf(parts);
  for (const name of [HANDLER, STREAM, WEBHOOK]) {
    const way = ways.find((each) => each.name === name)!;
    await latencyRound(way, 5);
    await add(`an event, ${name}`, LEAST.event, () =>
      lineUp.measure(count, parts.service, () => latencyRound(way, count).then(() => sleep(STATISTICS_MS))),
    );
  }
  await parts.end();
  for (const part of [parts.listener, parts.receiver, parts.service]) await lineUp.dismiss(part);
}

async function idle(lineUp: LineUp, role: (typeof ROLES)[number], seconds: number): Promise<Sample> {
  const database = await lineUp.database(`idle_${role}`, 10);
  const service = await lineUp.contender({
    name: role,
    script: SERVICE,
    database,
    concurrency: 4,
    environment: { ROLE: role, POLL_TICK_MS: '1000' },
    countsRoundTrips: true,
  });
  await sleep(SETTLED_MS);
  const sample = await lineUp.measure(seconds, service, () => sleep(seconds * 1_000));
  await lineUp.dismiss(service);
  return sample;
}

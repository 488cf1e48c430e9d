import { parseArgs } from 'node:util';
import { type BenchOptions, defaults, LEAST_ROUNDS } from './options.js';
import { apiBench } from './api.bench.js';
import { eventsBench } from './events.bench.js';
import { flatBench } from './flat.bench.js';
import { freshnessBench } from './freshness.bench.js';
import { historyBench } from './history.bench.js';
import { migrationsBench } from './migrations.bench.js';
import { pollBench } from './poll.bench.js';
import { registrationsBench } from './registrations.bench.js';
import { remoteBench } from './remote.bench.js';
import { replicasBench } from './replicas.bench.js';
import { soakBench } from './soak.bench.js';
import { startBench } from './start.bench.js';

const BENCHES: Readonly<Record<string, (options: BenchOptions) => Promise<void>>> = {
  poll: pollBench,
  flat: flatBench,
  api: apiBench,
  start: startBench,
  events: eventsBench,
  registrations: registrationsBench,
  replicas: replicasBench,
  soak: soakBench,
  history: historyBench,
  migrations: migrationsBench,
  remote: remoteBench,
  freshness: freshnessBench,
};

const USAGE = `npm run bench -- [NAMES] [options]     without a name: all

poll           the poller beside undici alone, Prisma loops and job engines
flat           10,000, 100,000 and 1 million open sessions
api            reading and starting sessions, beside bare Fastify + pg and Nest + Express + Prisma
start          how soon the service is ready, and its memory when idle
events         from a commit to a handler, the stream, a webhook; beside LISTEN/NOTIFY and graphile-worker
registrations  many users at once, beside a bare undici loop
replicas       one, two and four processes, and their common ceiling
soak           everything at once for --minutes: memory, tables, lag
history        sessions from start to closed, deleted by age: the tables of history
migrations     how long each migration since the previous release makes writers wait, with a million sessions
remote         one call to the remote service, in several ways
freshness      how soon a change is noticed, simulated: our schedule beside others at equal reads
draw           docs/performance.md and its drawings from bench/results (not part of all)

  --quick        a short trial: shows that everything runs; its figures are not valid
  --rounds N     rounds that count, after one to warm up (7)
  --minutes N    length of soak (5; a valid one takes at least 20)
  --profile DIR  write a .cpuprofile of our service to DIR
  --help

Every benchmark measures its contenders in turn in one run, prints their ratios and its targets, and writes bench/results/NAME.json.`;

const { values, positionals } = readArguments();

const isDrawing = positionals.join() === 'draw';
const unknown = isDrawing ? [] : positionals.filter((name) => !(name in BENCHES));
if (values.help || unknown.length > 0) {
  console.log(unknown.length > 0 ? `There is no benchmark ${unknown.join(', ')}.\n\n${USAGE}` : USAGE);
  process.exitCode = unknown.length > 0 ? 1 : 0;
} else if (isDrawing) {
  await import('./draw.js');
} else {
  const { rounds, minutes } = defaults(values.quick);
  const given = number('rounds', values.rounds, rounds);
  const options: BenchOptions = {
    quick: values.quick,
    isTrial: values.quick || given < LEAST_ROUNDS || values.profile !== undefined,
    rounds: given,
    minutes: number('minutes', values.minutes, minutes),
    profile: values.profile,
  };
  for (const name of positionals.length > 0 ? positionals : Object.keys(BENCHES))
    await BENCHES[name]!(options);
}

function number(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const given = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && given > 0) return given;
  console.error(`--${name} must be a number above 0, not ${text}`);
  return process.exit(1);
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        rounds: { type: 'string' },
        minutes: { type: 'string' },
        profile: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return process.exit(1);
  }
}

import { parseArgs } from 'node:util';
import { type BenchOptions, defaultRounds, LEAST_ROUNDS } from './options.js';
import { apiBench } from './api.bench.js';
import { campaignsBench } from './campaigns.bench.js';
import { costsBench } from './costs.bench.js';
import { eventsBench } from './events.bench.js';
import { flatBench } from './flat.bench.js';
import { freshnessBench } from './freshness.bench.js';
import { pollBench } from './poll.bench.js';

const BENCHES: Readonly<Record<string, (options: BenchOptions) => Promise<void>>> = {
  poll: pollBench,
  flat: flatBench,
  api: apiBench,
  events: eventsBench,
  freshness: freshnessBench,
  campaigns: campaignsBench,
  costs: costsBench,
};

const USAGE = `npm run bench -- [NAMES] [options]     without a name: all

poll           the poller beside undici alone, Prisma loops and pg-boss
flat           10,000, 100,000 and 1 million open sessions
api            reading and starting sessions, beside bare Fastify + pg and Nest + Express + Prisma
events         from a commit to a handler, the stream, a webhook; beside bare LISTEN/NOTIFY
freshness      how soon a change is noticed, simulated: our schedule beside others at equal reads
campaigns      rows of a campaign, beside a loop of POST /users
costs          round trips, commits, WAL and CPU of each piece of work, beside the least that is safe
draw           the tables of bench/README.md from bench/results (not part of all)
seed           fills the database of DATABASE_URL with customers of every state and kind, three in ten stalled, to look at (not part of all)

  --sessions N   of seed: how many customers with a session (1000)
  --force        of seed: also if the database has users
  --quick        a short trial: shows that everything runs; its figures are not valid
  --rounds N     rounds that count, after one to warm up (7)
  --profile DIR  write a .cpuprofile of our service to DIR
  --help

Every benchmark measures its contenders in turn in one run, prints their ratios and its targets, and writes bench/results/NAME.json.`;

const { values, positionals } = readArguments();

const isDrawing = positionals.join() === 'draw';
const isSeeding = positionals.join() === 'seed';
const unknown = isDrawing || isSeeding ? [] : positionals.filter((name) => !(name in BENCHES));
if (values.help || unknown.length > 0) {
  console.log(unknown.length > 0 ? `There is no benchmark ${unknown.join(', ')}.\n\n${USAGE}` : USAGE);
  process.exitCode = unknown.length > 0 ? 1 : 0;
} else if (isDrawing) {
  await import('./draw.js');
} else if (isSeeding) {
  const sessions = number('sessions', values.sessions, 1_000);
  const { seedDatabase } = await import('./seed/seed.js');
  await seedDatabase(process.env, { sessions, force: values.force, say: console.log }).catch(
    (error: Error) => {
      console.error(error.message);
      process.exitCode = 1;
    },
  );
} else {
  const given = number('rounds', values.rounds, defaultRounds(values.quick));
  const options: BenchOptions = {
    quick: values.quick,
    isTrial: values.quick || given < LEAST_ROUNDS || values.profile !== undefined,
    rounds: given,
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
        sessions: { type: 'string' },
        force: { type: 'boolean', default: false },
        profile: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return process.exit(1);
  }
}

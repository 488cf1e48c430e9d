import { parseArgs } from 'node:util';
import { pollBench } from './poll.bench.js';
import { remoteBench } from './remote.bench.js';

const USAGE = `npm run bench -- [poll] [remote] [options]     without a name: all

poll     our poller beside undici alone and beside the loop that most people write
remote   ways of making one call to the remote service

  --rounds N       rounds that count, after one to warm up (7)
  --sessions N     sessions of poll (20000)
  --latency A,B    latencies of the remote service in poll, in ms (0,20)
  --profile DIR    write a .cpuprofile of our poller to DIR
  --help

Each prints ratios measured side by side in the same run, and writes bench/results/NAME.json.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '7' },
    sessions: { type: 'string', default: '20000' },
    latency: { type: 'string', default: '0,20' },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const BENCHES: Readonly<Record<string, () => Promise<void>>> = {
  poll: () =>
    pollBench({
      sessions: count('sessions', values.sessions),
      rounds: count('rounds', values.rounds),
      latenciesMs: values.latency.split(',').map((text) => count('latency', text, 0)),
      profile: values.profile,
    }),
  remote: remoteBench,
};

const unknown = positionals.filter((name) => !(name in BENCHES));
if (values.help || unknown.length > 0) {
  console.log(unknown.length > 0 ? `There is no benchmark ${unknown.join(', ')}.\n\n${USAGE}` : USAGE);
  process.exitCode = unknown.length > 0 ? 1 : 0;
} else {
  for (const name of positionals.length > 0 ? positionals : Object.keys(BENCHES)) await BENCHES[name]!();
}

function count(name: string, text: string, least = 1): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least) return number;
  console.error(`--${name} must be a whole number of ${least} or more, not ${text}`);
  return process.exit(1);
}

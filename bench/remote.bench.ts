import { type ChildProcess, spawn } from 'node:child_process';
import axios from 'axios';
import { Pool } from 'undici';
import { createAxios } from '../src/remote/axios.instance.js';
import { createUndiciAdapter } from '../src/remote/undici.adapter.js';
import { Remote } from '../src/remote/remote.service.js';
import { Environment } from '../src/platform/env/environment.js';
import { machineFacts, table, versionsOf, writeResults } from './harness/report.js';

const ROUNDS = 5;
const ROUND_MS = 1_000;
const CONCURRENCY = 64;
const PATH = '/api/v1/ssa/onboarding/pv/6f6e0a4e-7f7c-4b6f-9d0b-0e6f8f4b8f10';

/** A server of its own process that does nothing but answer a session (interface section 2.5). */
const SERVER = `
  const body = JSON.stringify({ sessionId: '6f6e0a4e-7f7c-4b6f-9d0b-0e6f8f4b8f10', finished: false, active: true, expired: false,
    createdAt: '2026-11-20T10:00:00+00:00', updatedAt: '2026-11-20T10:05:00+00:00', expiresAt: '2026-11-21T10:00:00+00:00', inverters: [] });
  require('node:http').createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  }).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`;

interface RemoteBenchResult {
  /** Median calls per second, 64 at once. */
  readonly callsPerSecond: Readonly<Record<string, number>>;
  /** Median microseconds of this process' CPU time per call: steadier than calls per second on a machine that is shared. */
  readonly cpuMicroseconds: Readonly<Record<string, number>>;
  /** Each as a share of bare undici in the same rounds. */
  readonly ratios: Readonly<Record<string, number>>;
}

/** Prints it and writes bench/results/remote.json. */
export async function remoteBench(): Promise<void> {
  const result = await run();
  const rows = Object.entries(result.callsPerSecond).map(([name, rate]) => [
    name,
    String(rate),
    String(result.cpuMicroseconds[name]),
    `x ${result.ratios[name]}`,
  ]);
  console.log(`\n${table([['', 'calls/s', 'own CPU µs', 'against undici'], ...rows])}`);
  await writeResults('remote', {
    benchmark: 'remote',
    rounds: ROUNDS,
    machine: machineFacts(),
    versions: versionsOf(['axios', 'undici']),
    ...result,
  });
}

/** Every way of reading a session, one after the other in each round, so that a slow moment of the machine hits all alike. */
async function run(): Promise<RemoteBenchResult> {
  const { url, stop } = await startServer();
  const bare = new Pool(url, { connections: CONCURRENCY, pipelining: 1 });
  const adapter = createUndiciAdapter({ baseUrl: url, timeoutMs: 10_000 });
  const instance = createAxios(adapter);
  const remote = new Remote(
    Object.assign(new Environment(), {
      SCS_BASE_URL: url,
      SCS_API_KEY: 'bench-key',
      SCS_CLIENT_ID: 'bench-id',
      SCS_CLIENT_SECRET: 'bench-secret',
      SCS_MAX_CONCURRENCY: CONCURRENCY + 1,
    }),
  );
  const headers = { ApiKey: 'bench-key', authorization: 'Bearer bench', accept: 'application/json' };
  const ways: Record<string, () => Promise<unknown>> = {
    undici: async () => (await bare.request({ path: PATH, method: 'GET', headers })).body.text(),
    'axios on our adapter': () => instance.request({ method: 'GET', url: PATH, headers, timeout: 10_000 }),
    'Remote.send': () => remote.send({ operation: 'read_session', method: 'GET', path: PATH, headers }),
    'axios as it comes': () => axios.get(url + PATH, { headers }),
  };
  const rates: Record<string, number[]> = {};
  const costs: Record<string, number[]> = {};
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, call] of Object.entries(ways)) {
      const { rate, cost } = await measure(call);
      // The first round warms up.
      if (round === 0) continue;
      (rates[name] ??= []).push(rate);
      (costs[name] ??= []).push(cost);
    }
  }
  await Promise.all([bare.destroy(), adapter.close(), remote.onApplicationShutdown()]);
  stop();
  const medians = mediansOf(rates);
  const ratios = Object.entries(medians).map(([name, value]) => [
    name,
    Number((value / medians.undici!).toFixed(2)),
  ]);
  return { callsPerSecond: medians, cpuMicroseconds: mediansOf(costs), ratios: Object.fromEntries(ratios) };
}

async function measure(call: () => Promise<unknown>): Promise<{ rate: number; cost: number }> {
  const endsAt = performance.now() + ROUND_MS;
  let calls = 0;
  const one = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      await call();
      calls++;
    }
  };
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  await Promise.all(Array.from({ length: CONCURRENCY }, one));
  const { user, system } = process.cpuUsage(cpu);
  return { rate: (calls * 1_000) / (performance.now() - startedAt), cost: (user + system) / calls };
}

const mediansOf = (all: Record<string, number[]>): Record<string, number> =>
  Object.fromEntries(Object.entries(all).map(([name, values]) => [name, Math.round(median(values))]));

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

async function startServer(): Promise<{ url: string; stop: () => void }> {
  const child: ChildProcess = spawn(process.execPath, ['-e', SERVER], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout!.once('data', (data: Buffer) => resolve(data.toString().trim()));
    child.once('exit', () => reject(new Error('the server of the benchmark ended')));
  });
  return { url: `http://127.0.0.1:${port}`, stop: () => void child.kill() };
}

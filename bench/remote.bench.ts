import axios from 'axios';
import { Pool } from 'undici';
import { Environment } from '../src/platform/env/environment.js';
import { Remote } from '../src/remote/remote.service.js';
import { createAxios } from '../src/remote/wire/remote-axios.js';
import { FakeRemote } from './harness/remote/fake-remote.js';
import { report } from './harness/report.js';
import {
  type Contender,
  control,
  interleave,
  rateOf,
  ratio,
  type Sample,
  summarise,
} from './harness/rounds.js';
import { sessionId } from './harness/sessions.js';
import type { BenchOptions } from './options.js';

const IN_FLIGHT = 64;
const UNDICI = 'undici alone';
const CONTROL = 'undici alone again';
const PATH = `/api/v1/ssa/onboarding/pv/${sessionId(0)}`;

/** Compares ways of reading a session from the remote service. Without a database, their rates are upper bounds for the poller. */
export async function remoteBench({ quick, isTrial, rounds }: BenchOptions): Promise<void> {
  const calls = quick ? 3_000 : 20_000;
  const fake = await FakeRemote.start({ startedAtMs: 0, sessions: 1, contenders: ['all'], changes: false });
  const url = fake.url('all');
  // Keeps connections alive while the other contenders run. The default is 4 s.
  const bare = new Pool(url, { connections: IN_FLIGHT, pipelining: 1, keepAliveTimeout: 60_000 });
  const always = { ApiKey: 'bench-key', accept: 'application/json' };
  const token = { authorization: 'Bearer bench' };
  const headers = { ...always, ...token };
  const ours = createAxios({ baseUrl: url, headers: always, timeoutMs: 10_000 });
  const remote = new Remote(environmentFor(url));

  const undici = async () => (await bare.request({ path: PATH, method: 'GET', headers })).body.text();
  const ways: Readonly<Record<string, () => Promise<unknown>>> = {
    [UNDICI]: undici,
    'axios on our adapter': () =>
      ours.axios.request({ method: 'GET', url: PATH, headers: token, timeout: 10_000 }),
    'Remote.send': () =>
      remote.send({ operation: 'read_session', method: 'GET', path: PATH, headers: token }),
    'axios as it comes': () => axios.get(url + PATH, { headers }),
    [CONTROL]: undici,
  };
  const contenders: Contender[] = Object.entries(ways).map(([name, call]) => ({
    name,
    round: () => measure(calls, call),
  }));
  const samples = await interleave(contenders, rounds);
  await Promise.all([bare.destroy(), ours.close(), remote.onApplicationShutdown()]);
  await fake.stop();

  const limit = samples.get(UNDICI)!;
  await report({
    benchmark: 'remote',
    title: 'One call to the remote service',
    extent: `${calls} reads, ${IN_FLIGHT} in flight, no database, ${rounds} rounds`,
    isTrial,
    control: control(limit.map(rateOf), samples.get(CONTROL)!.map(rateOf)),
    targets: [],
    tables: [
      {
        title: 'Ways of reading a session',
        columns: ['', 'calls/s', 'least-most', 'own CPU µs per call', 'of undici alone'],
        bar: 1,
        rows: [...samples].map(([name, list]) => {
          const { perSecond, spread, cpuMicroseconds } = summarise(list);
          return [name, perSecond, spread, cpuMicroseconds, ratio(list, limit)];
        }),
      },
    ],
    packages: ['axios', 'undici'],
  });
}

const environmentFor = (url: string): Environment =>
  Object.assign(new Environment(), {
    SCS_BASE_URL: url,
    SCS_API_KEY: 'bench-key',
    SCS_CLIENT_ID: 'bench-id',
    SCS_CLIENT_SECRET: 'bench-secret',
    SCS_MAX_CONCURRENCY: IN_FLIGHT + 1,
  });

async function measure(calls: number, call: () => Promise<unknown>): Promise<Sample> {
  let left = calls;
  const one = async (): Promise<void> => {
    while (left-- > 0) await call();
  };
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  await Promise.all(Array.from({ length: IN_FLIGHT }, one));
  const { user, system } = process.cpuUsage(cpu);
  return {
    count: calls,
    elapsedMs: performance.now() - startedAt,
    cpuMicroseconds: user + system,
    serverCpuMicroseconds: null,
    walBytes: 0,
  };
}

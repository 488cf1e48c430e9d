import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { LineUp } from './harness/line-up.js';
import { report } from './harness/report.js';
import { atMost } from './harness/result.js';
import { type Contender, control, interleave } from './harness/rounds.js';
import { serviceVariables } from './harness/service-variables.js';
import { median, quantile, rounded } from './harness/statistics.js';
import type { BenchOptions } from './options.js';

const OURS = 'our service';
const NODE = 'Node with an empty program';
const CONTROL = 'our service again';
const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
/** The pause between the start and the measurement of memory. In this pause, Node frees the memory that the start needed. */
const IDLE_MS = 10_000;
const MEGABYTE = 2 ** 20;
/** The pause between two readiness checks, and thus the error of a measured start. */
const CHECK_EVERY_MS = 5;

interface Start {
  readonly readyMs: number;
  /** Measured after IDLE_MS; null without /proc. */
  readonly residentBytes: number | null;
}

/** Measures the time from process start until /health/ready returns 200, for the built program with a migrated database. */
export async function startBench(options: BenchOptions): Promise<void> {
  await LineUp.with({ sessions: 1_000, remotes: [OURS] }, async (lineUp) => {
    const database = await lineUp.database('start');
    const request = {
      databaseUrl: database.url,
      remoteUrl: lineUp.remote.url(OURS),
      concurrency: 31,
      environment: { ROLE: 'all', NODE_ENV: 'production', HOST: '127.0.0.1', SHUTDOWN_DELAY_MS: '0' },
    };
    const idleMs = options.quick ? 2_000 : IDLE_MS;
    const ours = async (): Promise<Start> => {
      const startedAt = performance.now();
      const child = spawn(process.execPath, [MAIN], {
        env: { PATH: process.env.PATH, ...serviceVariables(request), POLL_TICK_MS: '1000' },
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      const url = await readyUrl(child);
      while (!(await isReady(url))) await sleep(CHECK_EVERY_MS);
      const readyMs = performance.now() - startedAt;
      await sleep(idleMs);
      const residentBytes = await residentOf(child.pid!);
      await end(child);
      return { readyMs, residentBytes };
    };
    const contenders: Contender<Start>[] = [
      { name: NODE, round: emptyProgram },
      { name: OURS, round: ours },
      { name: CONTROL, round: ours },
    ];
    const samples = await interleave(contenders, options.rounds);
    const readyOf = (name: string) => samples.get(name)!.map(({ readyMs }) => readyMs);
    const residentMegabytes = (name: string) => {
      const known = samples
        .get(name)!
        .flatMap(({ residentBytes }) => (residentBytes === null ? [] : [residentBytes / MEGABYTE]));
      return known.length === 0 ? null : Math.round(median(known));
    };
    const resident = residentMegabytes(OURS);
    await report({
      benchmark: 'start',
      title: 'Start and memory',
      extent: `the built service in the role all, ${options.rounds} starts, memory after ${idleMs / 1_000} s idle`,
      isTrial: options.isTrial,
      control: control(readyOf(OURS), readyOf(CONTROL)),
      targets: [
        atMost('ready, at the median', 1.5, rounded(median(readyOf(OURS)) / 1_000), 's'),
        ...(resident === null ? [] : [atMost('resident when idle, at the median', 150, resident, 'MB')]),
      ],
      tables: [
        {
          title: 'From the start of the process',
          columns: ['', 'ready ms, median', 'least-most', 'resident MB when idle'],
          bar: 1,
          rows: [...samples.keys()].map((name) => {
            const times = readyOf(name);
            const spread = `${Math.round(quantile(times, 0))}-${Math.round(quantile(times, 1))}`;
            return [name, Math.round(median(times)), spread, residentMegabytes(name)];
          }),
        },
      ],
      packages: ['@nestjs/core', '@prisma/client', 'fastify', 'graphile-worker'],
      postgresql: lineUp.server.version,
    });
  });
}

async function emptyProgram(): Promise<Start> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['-e', 'process.send(0); setInterval(() => {}, 1_000)'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await new Promise((resolve) => child.once('message', resolve));
  const readyMs = performance.now() - startedAt;
  const residentBytes = await residentOf(child.pid!);
  await end(child);
  return { readyMs, residentBytes };
}

function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve((message as { url: string }).url));
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}`)));
  });
}

const isReady = async (url: string): Promise<boolean> => (await fetch(`${url}/health/ready`)).status === 200;

async function residentOf(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => null);
  const kilobytes = status === null ? undefined : /VmRSS:\s+(\d+) kB/.exec(status)?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) * 1_024;
}

async function end(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await gone;
}

import { spawn, type ChildProcess } from 'node:child_process';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processCommand } from './process-identity.js';
import type { Account, Places } from './postgres-account.js';

export interface ServerRequest {
  readonly password: string;
  /** Tried first; if it is in use, another free port is taken. */
  readonly port?: number;
  /** Settings of postgresql.conf. */
  readonly settings: Readonly<Record<string, string>>;
}

export interface Server {
  readonly port: number;
  readonly exited: Promise<void>;
  /** Stops the server, which rolls open transactions back, and waits for its end. */
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
const START_WITHIN_MS = 30_000;
/** An immediate stop loses no data but costs a recovery at the next start; it is used if a fast stop hangs. */
const FAST_STOP_MS = 3_000;
const IMMEDIATE_STOP_MS = 2_000;
/** If its postmaster was killed, a server leaves backends behind, which end within seconds. */
const ATTEMPTS = 5;
const RETRY_MS = 700;

/** Starts PostgreSQL on the data in `places.base`, which it creates the first time. */
export async function startServer(places: Places, account: Account, request: ServerRequest): Promise<Server> {
  const data = join(places.base, 'data');
  await stopLeftover(data);
  await createData(places, data, account, request.password);
  for (let attempt = 1; ; attempt++) {
    try {
      return await launch(places, data, account, {
        ...request,
        port: await freePort(attempt === 1 ? request.port : 0),
      });
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await sleep(RETRY_MS);
    }
  }
}

async function createData(places: Places, data: string, account: Account, password: string): Promise<void> {
  // PG_VERSION is written early. This file is written last, so that an interrupted initdb is not mistaken for complete data.
  const complete = join(places.base, 'complete');
  if (await exists(complete)) return;
  await rm(data, { recursive: true, force: true });
  const passwordFile = join(places.base, 'password');
  await writeFile(passwordFile, `${password}\n`, { mode: 0o644 });
  try {
    const initdb = spawn(
      join(places.binaries, 'bin', 'initdb'),
      // The locale C sorts by code point on every machine. --no-sync, because the data of an interrupted initdb are deleted anyway.
      [
        `--pgdata=${data}`,
        '--username=postgres',
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
      ].concat('--locale=C', '--no-sync'),
      { ...account, cwd: places.base, env: serverEnvironment(), stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const complaint = await endOf(initdb);
    if (complaint !== undefined) throw new Error(`initdb failed: ${complaint}`);
  } finally {
    await rm(passwordFile, { force: true });
  }
  await writeFile(complete, '');
}

async function launch(
  places: Places,
  data: string,
  account: Account,
  { port, settings }: ServerRequest & { port: number },
): Promise<Server> {
  const all = { listen_addresses: HOST, port: String(port), unix_socket_directories: '', ...settings };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const postgres = spawn(join(places.binaries, 'bin', 'postgres'), ['-D', data, ...flags], {
    ...account,
    cwd: data,
    env: serverEnvironment(),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  let ended = false;
  const exited = new Promise<void>((resolve) => {
    const end = () => {
      ended = true;
      resolve();
    };
    postgres.once('exit', end);
    postgres.once('error', end);
  });
  const startedAt = performance.now();
  while (!(await isReady(data, postgres.pid))) {
    if (ended) throw new Error('PostgreSQL ended while it started');
    if (performance.now() - startedAt > START_WITHIN_MS) {
      postgres.kill('SIGKILL');
      throw new Error('PostgreSQL did not become ready');
    }
    await sleep(20);
  }
  return { port, exited, stop: () => stopProcess((signal) => void postgres.kill(signal), exited) };
}

/** Reads the eighth line of postmaster.pid, for which pg_ctl waits too. */
async function isReady(data: string, pid: number | undefined): Promise<boolean> {
  const lines = await postmasterFile(data);
  return lines !== undefined && Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
}

async function postmasterFile(data: string): Promise<string[] | undefined> {
  return readFile(join(data, 'postmaster.pid'), 'utf8').then(
    (text) => text.split('\n'),
    () => undefined,
  );
}

/**
 * Stops a server that a killed run left on these data, and removes its postmaster.pid. If the process id now belongs to another process,
 * that process gets no signal and does not prevent PostgreSQL from starting.
 */
async function stopLeftover(data: string): Promise<void> {
  const pid = Number((await postmasterFile(data))?.[0]);
  if (!Number.isInteger(pid) || pid <= 0) return;
  const isOurs = async () => ((await processCommand(pid)) ?? '').includes(data);
  if (await isOurs()) {
    const gone = (async () => {
      while (await isOurs()) await sleep(50);
    })();
    await stopProcess((signal) => void process.kill(pid, signal), gone);
  }
  await rm(join(data, 'postmaster.pid'), { force: true });
}

async function stopProcess(kill: (signal: NodeJS.Signals) => void, gone: Promise<void>): Promise<void> {
  const steps: [NodeJS.Signals, number][] = [
    ['SIGINT', FAST_STOP_MS],
    ['SIGQUIT', IMMEDIATE_STOP_MS],
    ['SIGKILL', IMMEDIATE_STOP_MS],
  ];
  for (const [signal, waitMs] of steps) {
    try {
      kill(signal);
    } catch {
      return; // Ended between the check and the signal.
    }
    const waiting = new AbortController();
    const timer = sleep(waitMs, 'still there', { signal: waiting.signal }).catch(() => undefined);
    const result = await Promise.race([gone, timer]);
    waiting.abort();
    if (result === undefined) return;
  }
}

async function freePort(wanted = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => (wanted === 0 ? reject(error) : resolve(freePort())));
    probe.listen(wanted, HOST, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** PG… variables of the user's shell would affect initdb and postgres; the locale is set explicitly. */
const serverEnvironment = (): NodeJS.ProcessEnv => ({ PATH: process.env.PATH, TZ: 'UTC', LC_ALL: 'C' });

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Resolves to what the process wrote to stderr if it failed; to undefined if it succeeded. */
async function endOf(child: ChildProcess): Promise<string | undefined> {
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) => resolve(code === 0 ? undefined : complaint.trim() || `code ${code}`));
  });
}

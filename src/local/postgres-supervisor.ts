import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { within } from '../platform/async/within.js';
import { POSTGRES_STOP_MS } from '../platform/shutdown/limits.js';
import { placesForPostgres, type Places } from './postgres-places.js';
import { processCommand } from './process-identity.js';

// The service runs this script as a detached process, which starts PostgreSQL and stops it when the service ends, even if the service is
// killed. A Ctrl-C does not reach a detached process, so PostgreSQL runs until the service has drained.

export interface SupervisorRequest {
  readonly folder: string;
  readonly password: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** For a test run: the folder is deleted at the end. */
  readonly temporary?: boolean;
}

const run = promisify(execFile);

const HOST = '127.0.0.1';
/** A start can fail for some seconds after a postmaster was killed, until its backends have ended. */
const ATTEMPTS = 5;
const RETRY_MS = 700;

async function supervise(request: SupervisorRequest): Promise<() => Promise<void>> {
  const places = await placesForPostgres(request.folder);
  const clean = async (): Promise<void> => {
    if (!request.temporary) return;
    const isOutside = !places.base.startsWith(request.folder);
    if (isOutside) await rm(dirname(places.base), { recursive: true, force: true });
    await rm(request.folder, { recursive: true, force: true });
  };
  const server = await startServer(places, request).catch(async (error: unknown) => {
    await clean();
    throw error;
  });
  let stopping = false;
  void server.exited.then(async () => {
    if (stopping) return;
    await clean();
    process.exit(1);
  });
  const url = `postgresql://postgres:${request.password}@${HOST}:${server.port}/postgres`;
  if (process.connected) process.send?.({ type: 'ready', url });
  return async () => {
    stopping = true;
    await server.stop();
    await clean();
  };
}

/** Starts PostgreSQL on the data in `places.base`. Creates the data the first time. */
async function startServer(places: Places, { password, settings }: SupervisorRequest) {
  const data = join(places.base, 'data');
  await stopLeftover(data);
  await createData(places, data, password);
  for (let attempt = 1; ; attempt++) {
    try {
      return await launch(places, data, settings);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await sleep(RETRY_MS);
    }
  }
}

async function createData({ account, binaries, base }: Places, data: string, password: string) {
  // Written after initdb, so that an interrupted initdb is not mistaken for complete data. initdb writes PG_VERSION too early for this.
  const complete = join(base, 'complete');
  if (existsSync(complete)) return;
  await rm(data, { recursive: true, force: true });
  const passwordFile = join(base, 'password');
  await writeFile(passwordFile, `${password}\n`, { mode: 0o644 });
  // The locale C sorts by code point on every machine. --no-sync, because the data of an interrupted initdb are deleted anyway.
  const flags = ['--username=postgres', '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-sync'];
  try {
    const args = [`--pgdata=${data}`, `--pwfile=${passwordFile}`, ...flags];
    await run(join(binaries, 'bin', 'initdb'), args, { ...account, cwd: base, env: serverEnvironment() });
  } finally {
    await rm(passwordFile, { force: true });
  }
  await writeFile(complete, '');
}

async function launch({ account, binaries }: Places, data: string, settings: SupervisorRequest['settings']) {
  const port = await freePort();
  const all = { listen_addresses: HOST, port: String(port), unix_socket_directories: '', ...settings };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const postgres = spawn(join(binaries, 'bin', 'postgres'), ['-D', data, ...flags], {
    ...account,
    cwd: data,
    env: serverEnvironment(),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  let ended = false;
  const end = () => void (ended = true);
  const exited = once(postgres, 'exit').then(end, end);
  const deadline = performance.now() + 30_000;
  while (!(await isReady(data, postgres.pid))) {
    if (ended) throw new Error('PostgreSQL ended while it started');
    if (performance.now() > deadline) {
      postgres.kill('SIGKILL');
      throw new Error('PostgreSQL did not become ready');
    }
    await sleep(20);
  }
  // `stop` waits until the server has ended. Open transactions are rolled back.
  return { port, exited, stop: () => stopProcess((signal) => void postgres.kill(signal), exited) };
}

/** Checks as pg_ctl does: the eighth line of postmaster.pid must be `ready`. */
async function isReady(data: string, pid: number | undefined): Promise<boolean> {
  const lines = await postmasterFile(data);
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
}

/** Returns the lines of postmaster.pid; one empty line if there is no such file. */
async function postmasterFile(data: string): Promise<string[]> {
  return (await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
}

/** Stops a server that a killed run left on these data. Sends no signal if another process has its process id now. */
async function stopLeftover(data: string): Promise<void> {
  const pid = Number((await postmasterFile(data))[0]);
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
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    try {
      kill(signal);
    } catch {
      return; // The process ended before the signal.
    }
    const hasGone = gone.then(() => true);
    if (await within(POSTGRES_STOP_MS[signal], hasGone, () => false)) return;
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, HOST);
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await once(probe.close(), 'close');
  return port;
}

/** Returns the environment of initdb and postgres: none of the user's PG… variables, and a fixed locale. */
const serverEnvironment = (): NodeJS.ProcessEnv => ({ PATH: process.env.PATH, TZ: 'UTC', LC_ALL: 'C' });

process.once('message', (request: SupervisorRequest) => {
  // If the service ends while PostgreSQL is starting, PostgreSQL is stopped as soon as it has started.
  const gone = Promise.race([once(process, 'disconnect'), once(process, 'SIGTERM')]);
  supervise(request)
    .then(async (stop) => {
      await gone;
      await stop();
      process.exit(0);
    })
    .catch((error: Error) => {
      console.error(error);
      if (!process.connected) process.exit(1);
      process.send?.({ type: 'failed', message: error.message }, () => process.exit(1));
    });
});

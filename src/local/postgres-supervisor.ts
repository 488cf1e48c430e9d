import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from './free-port.js';
import { placesForPostgres, type Places } from './postgres-places.js';
import { processCommand } from './process-identity.js';

// The service runs this script as a detached process, which starts PostgreSQL and stops it when the service ends, even if the service is
// killed. A Ctrl-C does not reach a detached process, so PostgreSQL runs until the service has drained.

export interface SupervisorRequest {
  readonly folder: string;
  readonly password: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** Whether to delete the folder at the end, as test runs do. */
  readonly temporary?: boolean;
}

const run = promisify(execFile);

const HOST = '127.0.0.1';
/** How often to try to start. A start fails until a server that a killed process left on the same data has ended. */
const ATTEMPTS = 5;
const RETRY_MS = 700;
/** How long PostgreSQL may take to stop after SIGINT. Then SIGQUIT stops it at once, which loses no committed data. */
const STOP_MS = 5_000;
/** The environment of initdb and postgres. It has none of the user's PG… variables, and a fixed locale. */
const ENVIRONMENT = { PATH: process.env.PATH, TZ: 'UTC', LC_ALL: 'C' };

/** Runs PostgreSQL until `gone` resolves. Throws if PostgreSQL does not start or ends earlier. */
async function supervise(request: SupervisorRequest, gone: Promise<unknown>): Promise<void> {
  const places = await placesForPostgres(request.folder);
  try {
    const { url, postgres, exited } = await startServer(places, request);
    if (process.connected) process.send?.({ type: 'ready', url });
    const hasEnded = await Promise.race([gone.then(() => false), exited.then(() => true)]);
    if (hasEnded) throw new Error('PostgreSQL ended');
    postgres.kill('SIGINT');
    const force = setTimeout(() => postgres.kill('SIGQUIT'), STOP_MS);
    await exited;
    clearTimeout(force);
  } finally {
    if (request.temporary) {
      const isOutside = !places.base.startsWith(request.folder);
      for (const folder of [request.folder, ...(isOutside ? [dirname(places.base)] : [])])
        await rm(folder, { recursive: true, force: true });
    }
  }
}

/** Starts PostgreSQL on the data in `places.base`. Creates the data if there are none. */
async function startServer(places: Places, request: SupervisorRequest) {
  const data = join(places.base, 'data');
  if (!existsSync(join(data, 'PG_VERSION'))) await createData(places, data, request.password);
  await stopLeftover(data);
  for (let attempt = 1; ; attempt++) {
    try {
      return await launch(places, data, request);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await sleep(RETRY_MS);
    }
  }
}

async function createData({ account, binaries, base }: Places, data: string, password: string) {
  const passwordFile = join(base, 'password');
  await writeFile(passwordFile, `${password}\n`, { mode: 0o644 });
  // The locale C sorts by code point on every machine. --no-sync is safe, because an interrupted initdb deletes its data.
  const flags = ['--username=postgres', '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-sync'];
  const args = [`--pgdata=${data}`, `--pwfile=${passwordFile}`, ...flags];
  try {
    await run(join(binaries, 'bin', 'initdb'), args, { ...account, cwd: base, env: ENVIRONMENT });
  } finally {
    await rm(passwordFile, { force: true });
  }
}

async function launch({ account, binaries }: Places, data: string, request: SupervisorRequest) {
  const port = await freePort();
  const settings = { listen_addresses: HOST, port, unix_socket_directories: '', ...request.settings };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const postgres = spawn(join(binaries, 'bin', 'postgres'), ['-D', data, ...flags], {
    ...account,
    cwd: data,
    env: ENVIRONMENT,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  let hasEnded = false;
  const exited = once(postgres, 'exit').then(() => (hasEnded = true));
  for (;;) {
    // PostgreSQL is ready when the eighth line of postmaster.pid is `ready`; pg_ctl waits for the same line.
    const lines = await postmasterFile(data);
    if (Number(lines[0]) === postgres.pid && lines[7]?.trim() === 'ready') break;
    if (hasEnded) throw new Error('PostgreSQL ended while it started');
    await sleep(20);
  }
  return { url: `postgresql://postgres:${request.password}@${HOST}:${port}/postgres`, postgres, exited };
}

/** Returns the lines of postmaster.pid; one empty line if there is no such file. */
async function postmasterFile(data: string): Promise<string[]> {
  return (await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
}

/** Stops a server that a killed supervisor left on these data. Sends no signal if another program has its process id now. */
async function stopLeftover(data: string): Promise<void> {
  const pid = Number((await postmasterFile(data))[0]);
  if (pid > 0 && (await processCommand(pid))?.includes(data)) process.kill(pid, 'SIGINT');
}

process.once('message', (request: SupervisorRequest) => {
  // If the service ends while PostgreSQL is starting, PostgreSQL is stopped as soon as it has started.
  const gone = Promise.race([once(process, 'disconnect'), once(process, 'SIGTERM')]);
  supervise(request, gone).then(
    () => process.exit(0),
    (error: Error) => {
      console.error(error);
      if (!process.connected) process.exit(1);
      process.send?.({ type: 'failed', message: error.message }, () => process.exit(1));
    },
  );
});

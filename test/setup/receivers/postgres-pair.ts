import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { migrate } from '../../../src/platform/database/migrations/migrate.js';
import { placesForPostgres, type Places } from '../../../src/local/postgres-places.js';
import { temporaryFolder } from '../database/own-postgres.js';
import { databaseUrl } from '../database/template-database.js';
import { waitFor } from '../wait-for.js';
import { withClient } from '../database/with-client.js';
import { freePort } from '../../../src/local/free-port.js';

/** A primary and its synchronous standby, with a migrated database. */
export interface PostgresPair {
  /** The URL of the database on each server. */
  readonly primary: string;
  readonly standby: string;
  /** Kills the primary. Its connections are lost without an error message. */
  killPrimary(): Promise<void>;
  /** Makes the standby a primary. Resolves when it accepts writes. */
  promoteStandby(): Promise<void>;
  remove(): Promise<void>;
}

interface Server {
  readonly url: string;
  stop(signal: 'SIGKILL' | 'SIGQUIT'): Promise<void>;
}

const run = promisify(execFile);

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '150',
  shared_buffers: '64MB',
  // The data need not survive a crash of the machine.
  fsync: 'off',
  // Keeps shared memory in the data folder. A killed server would leave files in /dev/shm.
  dynamic_shared_memory_type: 'mmap',
};

export async function startPostgresPair(): Promise<PostgresPair> {
  const folder = await temporaryFolder();
  const places = await placesForPostgres(folder);
  const { account, base, binaries } = places;
  const [first, second] = [join(base, 'first'), join(base, 'second')];
  const as = { ...account, cwd: base };
  const flags = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
  await run(join(binaries, 'bin', 'initdb'), [`--pgdata=${first}`, ...flags], as);
  // Copies the data of the stopped server, since the package has no pg_basebackup.
  await run('cp', ['-a', first, second], as);
  await writeFile(join(second, 'standby.signal'), '');

  // Until the standby is attached, commits on the primary wait.
  const primary = await startServer(places, first, { synchronous_standby_names: '*' });
  const { hostname: host, port } = new URL(primary.url);
  const standby = await startServer(places, second, {
    primary_conninfo: `host=${host} port=${port} user=postgres`,
  });
  await withClient(primary.url, (client) => client.query('CREATE DATABASE pv'));
  const pair = { primary: databaseUrl(primary.url, 'pv'), standby: databaseUrl(standby.url, 'pv') };
  await migrate(pair.primary);
  return {
    ...pair,
    killPrimary: () => primary.stop('SIGKILL'),
    promoteStandby: async () => {
      await withClient(standby.url, (client) => client.query('SELECT pg_promote()'));
    },
    remove: async () => {
      await Promise.all([primary.stop('SIGQUIT'), standby.stop('SIGQUIT')]);
      for (const each of [folder, dirname(base)]) await rm(each, { recursive: true, force: true });
    },
  };
}

async function startServer(
  { account, binaries }: Places,
  data: string,
  settings: Readonly<Record<string, string>>,
): Promise<Server> {
  const port = await freePort();
  const flags = Object.entries({ ...SETTINGS, ...settings, port }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const options = { ...account, cwd: data, stdio: 'ignore' } as const;
  const child = spawn(join(binaries, 'bin', 'postgres'), ['-D', data, ...flags], options);
  const ended = once(child, 'exit');
  child.unref();
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`;
  await waitFor('PostgreSQL', () => withClient(url, (client) => client.query('SELECT 1')));
  const sharedMemory = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')[6] ?? '';
  return {
    url,
    stop: async (signal) => {
      child.kill(signal);
      await ended;
      // A killed server leaves its System V shared memory.
      await run('ipcrm', ['-m', sharedMemory.trim().split(/\s+/)[1] ?? '']).catch(() => {});
    },
  };
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../wait-for.js';
import { withClient } from '../database/with-client.js';
import { freePort } from '../../../src/local/free-port.js';
import { findProgram } from './programs.js';

export interface PgBouncer {
  /** Returns the URL of the same database through the pooler. */
  through(databaseUrl: string): string;
  stop(): Promise<void>;
}

export const findPgBouncer = () => findProgram('pgbouncer', 'PGBOUNCER');

export type PoolMode = 'statement' | 'transaction' | 'session';

/** Starts PgBouncer before the test server, as docs/postgresql.md configures it, on a free port. */
export async function startPgBouncer(program: string, mode: PoolMode): Promise<PgBouncer> {
  const server = new URL(process.env.PV_TEST_SERVER_URL ?? '');
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'pv-onboarding-pgbouncer-'));
  const file = join(folder, 'pgbouncer.ini');
  const password = decodeURIComponent(server.password);
  await writeFile(
    file,
    `[databases]
* = host=${server.hostname} port=${server.port} user=${server.username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
max_client_conn = 1000
default_pool_size = 60
server_login_retry = 1
`,
  );
  // PgBouncer refuses to run as root.
  const account = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  await chmod(folder, 0o755);
  const child = spawn(program, ['-q', ...account, file], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const through = (databaseUrl: string): string => {
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${port}`;
    return url.href;
  };
  await waitFor('PgBouncer', () =>
    withClient(through(server.href), (client) => client.query('SELECT 1')).then(
      () => true,
      () => false,
    ),
  );
  return {
    through,
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

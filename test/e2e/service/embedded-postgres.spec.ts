import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { access, chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { Child } from '../../../src/local/child.js';
import { placesForPostgres } from '../../../src/local/postgres-places.js';
import { processCommand } from '../../../src/local/process-identity.js';
import { argumentsFor, startTestProcess } from '../../setup/processes/test-process.js';
import { waitFor } from '../../setup/wait-for.js';

describe('the embedded PostgreSQL', () => {
  let folder: string;
  beforeEach(async () => {
    // mkdtemp sets mode 0700. If root runs this test, PostgreSQL runs as another account and cannot enter the folder.
    folder = await mkdtemp(join(tmpdir(), 'pv-onboarding-closed-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const start = (variables: Record<string, string> = {}) =>
    startTestProcess('test/e2e/service/embedded-postgres.process.ts', { FOLDER: folder, ...variables });

  it('runs under any account and in a closed folder, and leaves nothing behind', async () => {
    const holder = await start();
    expect(await settingsOf(holder.url)).toEqual({
      encoding: 'UTF8',
      collation: 'C',
      address: '127.0.0.1/32',
    });
    await holder.stop();
    await expect(access(folder)).rejects.toThrow('ENOENT');
  });

  it('has a folder apart from that of the sandbox, and has stopped once the services of a laptop have stopped', async () => {
    const holder = await start({ AMONG_SERVICES: 'true' });
    await holder.stop();
    expect(holder.logs()).toContain('ECONNREFUSED');
    expect(holder.logs()).not.toContain('failed');
    expect(await readFile(join(folder, 'postgres-remote.log'), 'utf8')).toContain(
      'database system is shut down',
    );
  });

  it('does not use a folder below /var/tmp that another user has made', async () => {
    const { account, base, binaries } = await placesForPostgres(folder);
    const ours = dirname(base);
    // Other accounts use the given folder itself.
    if (process.getuid?.() !== 0) return expect(base).toBe(folder);
    const { status } = spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', process.cwd()], account);
    expect(binaries.includes('/node_modules/')).toBe(status === 0);
    await chown(ours, 1, 1);
    try {
      await expect(placesForPostgres(folder)).rejects.toThrow(`${ours} belongs to another user`);
    } finally {
      await rm(ours, { recursive: true });
    }
  });

  it('does not keep the process running that started it, and ends with it', async () => {
    const holder = await start({ ENDS: 'true' });
    const { pid } = JSON.parse(holder.logs()) as Pick<Child, 'pid'>;
    await waitFor('the supervisor to be gone', async () => (await processCommand(pid)) === undefined);
  });

  it('is stopped, and its data removed, if the process that starts it ends before it is ready', async () => {
    const supervisor = spawn(process.execPath, argumentsFor('src/local/postgres-supervisor.ts'), {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const made = join(folder, 'made');
    const exit = once(supervisor, 'exit');
    supervisor.send({ folder: made, password: 'x', temporary: true });
    await waitFor('it to begin', () => existsSync(made));
    supervisor.disconnect();
    expect(await exit).toEqual([0, null]);
    expect(existsSync(made)).toBe(false);
  });

  it('is stopped and its data removed when the process that started it is killed', async () => {
    const holder = await start();
    const { pid } = JSON.parse(holder.logs()) as Pick<Child, 'pid'>;
    await holder.stop('SIGKILL');
    await waitFor('the supervisor to be gone', async () => (await processCommand(pid)) === undefined);
    await expect(access(folder)).rejects.toThrow('ENOENT');
    await expect(settingsOf(holder.url)).rejects.toThrow('ECONNREFUSED');
  });
});

async function settingsOf(url: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } =
    await client.query(`SELECT pg_encoding_to_char(encoding) AS encoding, datcollate AS collation,
    inet_server_addr()::text AS address FROM pg_database WHERE datname = current_database()`);
  await client.end();
  return rows[0];
}

import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  startTestProcess,
  type TestProcess,
  childrenOf,
  isAlive,
} from '../../setup/processes/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import { stoppedInTime } from '../support/evidence/own-time.js';
import { inTime, itAtLength, measureUntil } from '../support/promise.js';

/** Runs what `npm start` runs after the build, without configuration. All starts use the same folder, unless a test passes another. */
describe('a start with nothing but defaults', () => {
  let folder: string;
  const started: TestProcess[] = [];
  const start = async (env: Record<string, string> = {}, where = folder): Promise<TestProcess> => {
    const service = await startTestProcess('src/main.ts', { SANDBOX_PORT: '0', ...env }, where);
    started.push(service);
    return service;
  };
  const readData = async (file: string) => JSON.parse(await readFile(join(folder, '.data', file), 'utf8'));

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pv onboarding start '));
    await chmod(folder, 0o755);
  });
  afterEach(() => Promise.all(started.splice(0).map((service) => service.stop('SIGKILL'))));
  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 }));

  async function postgresPid(): Promise<number> {
    const base = await stat(join(folder, '.data/postgres/server')).then(
      () => join(folder, '.data/postgres/server'),
      () => join(folder, '.data/postgres'),
    );
    return Number((await readFile(join(base, 'data/postmaster.pid'), 'utf8')).split('\n')[0]);
  }

  it('is ready with the installed packages, which other tests load from a bundle', async () => {
    const main = process.env.PV_TEST_BUILD ? 'dist/main.js' : 'src/main.ts';
    const { ended } = await measureUntil(stoppedInTime, async () => {
      const service = await startTestProcess(main, { SANDBOX_PORT: '0', PORT: '0' }, folder);
      started.push(service);
      await waitUntilReady(service);
      return { service, ended: await service.stop() };
    });
    expect(ended).toEqual({ code: 0, signal: null });
  });

  it('is ready, prints its address, and leaves no process behind after an interrupt', async () => {
    const isInTime = (figure: Parameters<typeof stoppedInTime>[0] & { tookMs: number }) =>
      stoppedInTime(figure) && figure.tookMs < 5_000;
    const { pids, ended, tookMs } = await measureUntil(isInTime, async () => {
      const service = await start({ PORT: '0', POLL_MIN_INTERVALL_MS: '1' });
      await waitUntilReady(service);
      expect(service.logs()).toContain('POLL_MIN_INTERVALL_MS is not read');
      const running = await readData('running.json');
      expect(running).toMatchObject({ pid: service.pid, service: { url: service.url } });
      expect(service.logs()).toContain(service.url);
      for (const file of ['keys.json', 'running.json']) {
        expect([file, (await stat(join(folder, '.data', file))).mode & 0o777]).toEqual([file, 0o600]);
      }

      const pids = [...(await childrenOf(service.pid)), await postgresPid()];
      const askedAt = performance.now();
      const exit = await service.stop('SIGINT');
      return { service, pids, ended: exit, tookMs: performance.now() - askedAt };
    });
    expect(ended).toEqual({ code: 0, signal: null });
    expect(tookMs).toBeLessThan(inTime(5_000));
    expect(await alive(pids)).toEqual([]);
    await expect(readData('running.json')).rejects.toThrow('ENOENT');
  });

  itAtLength('recovers from a PostgreSQL that was not stopped', async () => {
    const first = await start({ PORT: '0' });
    const postgres = await postgresPid();
    for (const pid of await childrenOf(first.pid)) process.kill(pid, 'SIGKILL');
    await first.stop('SIGKILL');
    expect(await isAlive(postgres)).toBe(true);

    const second = await start({ PORT: '0' });
    await waitUntilReady(second);
    expect(await isAlive(postgres)).toBe(false);
  });

  itAtLength('ends, with exit code 1, when its PostgreSQL does', async () => {
    const service = await start({ PORT: '0' });
    process.kill(await postgresPid(), 'SIGKILL');
    expect((await service.exited).code).toBe(1);
    expect(service.logs()).toContain('the embedded PostgreSQL ended');
  });

  itAtLength('refuses a folder that another service uses', async () => {
    const first = await start({ PORT: '0' });
    await expect(start({ PORT: '0' })).rejects.toThrow(
      new RegExp(`in use by another service .*process ${first.pid}`),
    );
    await waitUntilReady(first);
  });

  itAtLength(
    'uses a free port if the default port is taken, but refuses a configured port that is taken',
    async () => {
      const occupied = createServer()
        .listen(3000, '127.0.0.1')
        .on('error', () => {});
      await waitFor('port 3000 to be taken', () => isTaken(3000));
      try {
        const service = await start();
        expect(new URL(service.url).port).not.toBe('3000');
        expect(service.logs()).toContain('port 3000 is in use, using a free one');
        expect(service.logs()).not.toMatch(/"level":"(error|fatal)"/);
        await service.stop();
        await expect(start({ PORT: '3000' })).rejects.toThrow('PORT 3000 is in use');
      } finally {
        occupied.close();
      }
    },
  );

  it('reports every problem of the configuration, without starting anything', async () => {
    const empty = await mkdtemp(join(folder, 'empty-'));
    const attempt = start({ PORT: 'x', LOG_LEVEL: '', NODE_ENV: 'production' }, empty);
    await expect(attempt).rejects.toThrow(/ended with 1/);
    await expect(attempt).rejects.toThrow(/PORT must/);
    await expect(attempt).rejects.toThrow(/LOG_LEVEL is blank/);
    await expect(attempt).rejects.toThrow(/DATABASE_URL is required in production/);
    await expect(start({ PORT: 'x' }, empty)).rejects.toThrow(/PORT must/);
    await expect(stat(join(empty, '.data'))).rejects.toThrow('ENOENT');
  });
});

const waitUntilReady = ({ url }: TestProcess) =>
  waitFor('it is ready', async () => (await fetch(`${url}/health/ready`)).ok);

async function alive(pids: number[]): Promise<number[]> {
  const flags = await Promise.all(pids.map(isAlive));
  return pids.filter((_, index) => flags[index]);
}

async function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(true));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(false)));
  });
}

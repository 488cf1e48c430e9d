import { describe, expect, it } from '@jest/globals';
import { inTime, measureUntil } from '../../faults/support/promise.js';
import { Readiness } from '../../../src/platform/health/readiness.service.js';
import { startTestApp, useTestApp } from '../../setup/test-app.js';
import { createTestDatabase } from '../../setup/database/test-database.js';
import { waitFor } from '../../setup/wait-for.js';
import { withClient } from '../../setup/database/with-client.js';
import { startReplica } from '../replica.js';

describe('the service', () => {
  const service = useTestApp({ ROLE: 'api' });

  async function probe(what: string): Promise<{ status: number; missing: string[] }> {
    const response = await fetch(`${service.url}/health/${what}`);
    const { missing = [] } = (await response.json()) as { missing?: string[] };
    return { status: response.status, missing };
  }

  const gaveUp = ({ missing: [first] }: { missing: string[] }) => first?.includes('has not responded');

  /** Repeats a probe that gives up, as it may on a busy machine. */
  const probeReady = (query = '') =>
    waitFor('a check in time', async () => {
      const result = await probe(`ready${query}`);
      return !gaveUp(result) && result;
    });

  it('is live and ready', async () => {
    expect(await probe('live')).toEqual({ status: 200, missing: [] });
    expect(await probeReady()).toEqual({ status: 200, missing: [] });
  });

  it('is unready when a migration is not applied, and names it', async () => {
    const database = service.database;
    const applied = `UPDATE _prisma_migrations SET finished_at = $1 WHERE migration_name LIKE '%_baseline'`;
    await database.query(applied, [null]);
    const { status, missing } = await probeReady();
    await database.query(applied, [new Date()]);
    expect(status).toBe(503);
    expect(missing).toEqual([expect.stringMatching(/^the migration \d+_baseline is not applied$/)]);
  });

  it('is unready on a database without any migration, but live', async () => {
    const database = service.database;
    await database.query('ALTER TABLE _prisma_migrations RENAME TO elsewhere');
    const ready = await probeReady();
    const live = await probe('live');
    await database.query('ALTER TABLE elsewhere RENAME TO _prisma_migrations');
    expect(ready).toEqual({ status: 503, missing: ['no migration is applied'] });
    expect(live.status).toBe(200);
  });

  it('is unready within a second when the database does not respond, but live', async () => {
    const database = service.database;
    const clients = await Promise.all(
      Array.from({ length: service.environment.DATABASE_POOL_SIZE }, () => database.pool.connect()),
    );
    const { ready, tookMs } = await measureUntil(
      (measured) => measured.tookMs < 1_500,
      async () => {
        const startedAt = performance.now();
        const ready = await probe('ready');
        return { ready, tookMs: performance.now() - startedAt };
      },
    );
    const live = await probe('live');
    for (const client of clients) client.release();
    expect(ready).toEqual({ status: 503, missing: ['the database has not responded within 900 ms'] });
    expect(tookMs).toBeLessThan(inTime(1_500));
    expect(live.status).toBe(200);
  });

  const change = (statement: string) =>
    withClient(service.environment.DATABASE_URL, (client) => client.query(statement));
  const renewConnections = () =>
    change(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );

  it('is unready while the database is read-only', async () => {
    const name = new URL(service.environment.DATABASE_URL).pathname.slice(1);
    await change(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await renewConnections();
    const unready = await waitFor('it is unready', async () => {
      const result = await probeReady();
      return result.status === 503 && !result.missing[0]?.includes('reached') && result;
    });
    await change(`BEGIN READ WRITE; ALTER DATABASE ${name} RESET default_transaction_read_only; COMMIT`);
    await renewConnections();
    expect(unready.missing).toEqual(['the database is read-only']);
    await waitFor('it is ready', async () => (await probe('ready')).status === 200);
  });

  it('is unready once a statement found no space, and from the moment it begins to stop', async () => {
    const other = await startReplica(service, { ROLE: 'api' });
    const readiness = other.app.get(Readiness);
    try {
      const write = `DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`;
      await expect(other.database.query(write)).rejects.toThrow('could not extend file');
      const missing = await waitFor('a check in time', async () => {
        const found = await readiness.missing();
        return !gaveUp({ missing: found }) && found;
      });
      expect(missing).toEqual(['the database has no space left']);
    } finally {
      await other.close();
    }
    expect(await readiness.missing()).toEqual(['the service is stopping']);
  });

  it('is unready when the database is gone, and responds to requests with a 503 and Retry-After', async () => {
    const doomed = await createTestDatabase();
    const { SCS_BASE_URL } = service.environment;
    const other = await startTestApp({ DATABASE_URL: doomed.url, SCS_BASE_URL, ROLE: 'api' });
    try {
      await doomed.drop();
      const ready = await waitFor('a check in time', async () => {
        const response = await fetch(`${other.url}/health/ready`);
        const body = (await response.json()) as { missing: string[] };
        return !gaveUp(body) && [response.status, body];
      });
      expect(ready).toEqual([
        503,
        { status: 'unready', missing: ['the database cannot be reached'], warnings: [] },
      ]);
      for (const path of ['users', 'api-keys', 'onboarding/pv', 'events', 'status']) {
        const response = await fetch(`${other.url}/api/v1/${path}`, {
          headers: { authorization: `Bearer ${other.adminKey}` },
        });
        const { code } = (await response.json()) as { code: string };
        expect([path, response.status, code]).toEqual([path, 503, 'database_unavailable']);
        expect(response.headers.get('retry-after')).toBe('5');
      }
      expect((await fetch(`${other.url}/health/live`)).status).toBe(200);
    } finally {
      await other.close();
    }
  });
});

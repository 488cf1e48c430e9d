import { describe, expect, it } from '@jest/globals';
import { migrate } from '../../../src/platform/database/migrations/migrate.js';
import { startSandbox } from '../../setup/sandbox/sandbox.js';
import { startServiceProcess } from '../../setup/processes/service-process.js';
import { useTestDatabases } from '../../setup/database/test-database.js';
import { waitFor } from '../../setup/wait-for.js';
import { faultsOfMigrating, migrateWithoutLock } from '../support/migrations.js';
import { itAtLength, promise } from '../support/promise.js';

const REPLICAS = 3;

describe('R40: replicas may start together', () => {
  const database = useTestDatabases('empty');

  it('three processes on an empty database migrate it once, and all of them serve', async () => {
    const sandbox = await startSandbox();
    const environment = { ...sandbox.environment, DATABASE_URL: database.url, LOG_LEVEL: 'info' };
    const starts = Array.from({ length: REPLICAS }, () => startServiceProcess(environment));
    try {
      const replicas = await Promise.all(starts);
      for (const { url } of replicas)
        await waitFor('the replica is ready', async () => (await fetch(`${url}/health/ready`)).ok);
      const migrated = replicas.filter((replica) => replica.logs().includes('applied the migrations'));
      promise('R40', {
        figure: `empty database: ${migrated.length} of ${REPLICAS} replicas migrated, all serve`,
        bound: '1',
      });
      expect(migrated).toHaveLength(1);
    } finally {
      const started = await Promise.allSettled(starts);
      await Promise.all(
        started.map(async (start) => start.status === 'fulfilled' && start.value.stop('SIGKILL')),
      );
      await sandbox.stop();
    }
  });

  it('applies each migration once', async () => {
    expect(await faultsOfMigrating(database.url, REPLICAS, migrate)).toEqual([]);
  });

  itAtLength('turns red without a lock', async () => {
    expect(await faultsOfMigrating(database.url, REPLICAS, migrateWithoutLock)).not.toEqual([]);
  });
});

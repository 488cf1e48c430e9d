import { beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { applyMissing, migrate } from '../../../src/platform/database/migrations/migrate.js';
import { readMigrations } from '../../../src/platform/database/migrations/script.js';
import { TestClient } from '../../setup/client.js';
import { startTestApp } from '../../setup/test-app.js';
import { useTestDatabases } from '../../setup/database/test-database.js';
import { itAtLength, promise } from '../support/promise.js';

const ADDITIVE = `
  ALTER TABLE users ADD COLUMN later text NOT NULL DEFAULT '';
  ALTER TABLE onboarding_sessions ADD COLUMN later integer;
  CREATE TABLE later_things (id bigserial PRIMARY KEY);
  ALTER VIEW admin.api_keys RENAME TO earlier_api_keys;
  CREATE VIEW admin.api_keys AS SELECT *, 1 AS later FROM admin.earlier_api_keys`;

describe('R57: this release works on the schema of a later one', () => {
  const database = useTestDatabases();
  let client: pg.Client;
  beforeEach(async () => {
    client = await database.connect();
  });

  /** Applies a migration of a later release, then starts this release. Returns which parts of the main job failed. */
  async function faultsAfter(script: string): Promise<string[]> {
    await applyMissing(client, [...(await readMigrations()), { name: '29991231000000_later', script }]);
    await client.query(`COMMENT ON SCHEMA admin IS 'Read-only views. Views: 0'`);
    await migrate(database.url);
    const service = await startTestApp({ DATABASE_URL: database.url });
    try {
      const app = new TestClient(service.url, service.adminKey);
      const user = await app.call<{ gridLocations: { id: string }[] }>('POST', '/users', {
        tenantReference: 'customer-1',
        gridLocations: [{ ean: '871687110000000014' }],
      });
      if (user.status !== 201) return [`the registration: ${user.status}`];
      const session = await app.call<{ id: string }>(
        'POST',
        `/onboarding/pv/${user.body.gridLocations[0]!.id}`,
      );
      if (session.status !== 201) return [`the start: ${session.status}`];
      const read = await app.call('POST', `/onboarding/pv/${session.body.id}/refresh`);
      const { status: ready } = await fetch(`${service.url}/health/ready`);
      return [read.status === 200 ? '' : `the read: ${read.status}`, ready === 200 ? '' : 'not ready'].filter(
        (fault) => fault !== '',
      );
    } finally {
      await service.close();
    }
  }

  it('if the later migration only adds, and leaves the later views alone', async () => {
    const faults = await faultsAfter(ADDITIVE);
    promise('R57', {
      figure: `one more additive migration: ${faults.length} of 4 steps failed`,
      bound: '0',
    });
    expect(faults).toEqual([]);
    expect((await client.query('SELECT later FROM admin.api_keys')).rows).toEqual([]);
  });

  itAtLength('turns red if the migration renames a column at once', async () => {
    const rename = 'ALTER TABLE users RENAME tenant_name TO name_of_tenant';
    expect(await faultsAfter(rename)).not.toEqual([]);
  });
});

import { tmpdir } from 'node:os';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { Database } from '../../../src/platform/database/database.js';
import { upload } from '../../campaigns/campaign-client.js';
import { readRows } from '../../setup/campaign.js';
import { TestClient } from '../../setup/client.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { newValidEan } from '../../setup/ean.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox/sandbox.js';
import { createTestDatabase } from '../../setup/database/test-database.js';
import { ADMIN_KEY, testEnvironment } from '../../setup/test-environment.js';
import { startTestProcess, type TestProcess } from '../../setup/processes/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { waitUntilHeld } from '../support/waits.js';

jest.setTimeout(900_000);

const ROWS = isLong ? 10_000 : 400;
const REPLICAS = 2;
/** The limit for an import: 10,000 rows take less. */
const WITHIN_MS = 600_000;

const closing = closeAfterEach();
let replicas: TestProcess[] = [];
afterEach(async () => {
  await Promise.all(replicas.map((replica) => replica.stop('SIGKILL')));
  replicas = [];
});

interface Scene {
  readonly sandbox: TestSandbox;
  readonly database: Database;
  readonly references: readonly string[];
  start(): Promise<TestProcess>;
  /** Uploads the file, and returns the id of the campaign. `firstEan` replaces the EAN of the first row. */
  upload(firstEan?: string): Promise<string>;
}

async function prepare(count: number, file = 'src/main.ts'): Promise<Scene> {
  const database = await createTestDatabase();
  const sandbox = await startSandbox();
  closing.push(() => database.drop(), sandbox.stop);
  const rows = Array.from({ length: count }, (_, nth) => ({
    tenantReference: `customer-${nth}`,
    ean: newValidEan(),
  }));
  const sql = database.open();
  const environment = {
    ...testEnvironment(),
    ...sandbox.environment,
    DATABASE_URL: database.url,
    // Longer than responses are held.
    SCS_TIMEOUT_MS: '50000',
  };
  return {
    sandbox,
    database: sql,
    references: rows.map(({ tenantReference }) => tenantReference),
    start: async () => {
      const replica = await startTestProcess(file, environment, tmpdir());
      replicas.push(replica);
      return replica;
    },
    upload: async (firstEan = rows[0]!.ean) => {
      const lines = rows.map(
        ({ tenantReference, ean }, nth) => `${tenantReference},${nth === 0 ? firstEan : ean}`,
      );
      const service = { url: replicas[0]!.url, adminKey: ADMIN_KEY };
      const { status, body } = await upload(service, ['tenantReference,ean', ...lines].join('\n'), '');
      expect([status, body.rows]).toEqual([202, count]);
      return body.id;
    },
  };
}

/** Holds the responses to all registrations after the next `skip`, so that the campaigns continue only once the faults are cleared. */
const holdAfter = ({ sandbox: { control } }: Scene, skip: number) =>
  control.addFault({ kind: 'hold', operation: 'register_user', skip, times: null });

/** Kills a replica while responses are held, and starts another. */
async function killInCall({ sandbox: { control }, database, start }: Scene): Promise<void> {
  await waitUntilHeld(control, 1);
  await replicas.shift()!.stop('SIGKILL');
  // Expires all leases. The dead replica does not renew its lease. A live replica renews in time, or its writes are refused.
  if (!isLong)
    for (const table of ['campaigns', 'registrations'])
      await database.query(
        `UPDATE ${table} SET lease_until = now() - interval '1 ms' WHERE lease_until IS NOT NULL`,
      );
  await start();
}

const isOver = async (database: Database, ids: readonly string[]): Promise<boolean> =>
  (await database.query('SELECT FROM campaigns WHERE id = ANY ($1) AND finished_at IS NULL', [ids]))
    .length === 0;

/** Decides about uncertain registrations like a person who has asked the provider. */
async function decide({ sandbox, database, references }: Scene): Promise<void> {
  const client = new TestClient(replicas[0]!.url, ADMIN_KEY);
  const users = new Map((await sandbox.control.users()).map((user) => [user.tenantReference, user]));
  const uncertain = await database.query<{ id: string; reference: string }>(
    `SELECT id, tenant_reference AS reference FROM registrations WHERE status = 'uncertain' AND tenant_reference = ANY ($1)`,
    [references],
  );
  for (const { id, reference } of uncertain) {
    const user = users.get(reference);
    const decision = user === undefined ? 'retry' : 'resolve';
    expect((await client.call('POST', `/registrations/${id}/${decision}`, user)).status).toBe(200);
  }
}

/** Returns how many references the remote service has registered never, once and more than once. */
async function countEffects({
  sandbox,
  references,
}: Scene): Promise<[never: number, once: number, more: number]> {
  const effects = new Map(references.map((reference) => [reference, 0]));
  for (const { tenantReference } of (await sandbox.control.ledger()).users)
    effects.set(tenantReference, (effects.get(tenantReference) ?? 0) + 1);
  const counts = [...effects.values()];
  return [
    counts.filter((count) => count === 0).length,
    counts.filter((count) => count === 1).length,
    counts.filter((count) => count > 1).length,
  ];
}

describe('R50: each row once', () => {
  it(`for ${ROWS} rows, while every process is killed in turn, the file is uploaded twice, the second time with a changed row, and its campaign is paused`, async () => {
    const scene = await prepare(ROWS);
    const { database, sandbox } = scene;
    await holdAfter(scene, ROWS / 10);
    for (let nth = 0; nth < REPLICAS; nth++) await scene.start();
    const first = await scene.upload();
    await killInCall(scene);
    // In the second file, the first row has another EAN than in the registration that was already sent.
    const second = await scene.upload(newValidEan());
    const client = () => new TestClient(replicas[0]!.url, ADMIN_KEY);
    expect(await client().call('POST', `/campaigns/${first}/pause`)).toMatchObject({ status: 200 });
    for (let nth = 1; nth < REPLICAS; nth++) {
      await sandbox.control.clearFaults();
      await holdAfter(scene, ROWS / 4);
      await killInCall(scene);
    }
    expect(await client().call('POST', `/campaigns/${first}/resume`)).toMatchObject({ status: 200 });
    await sandbox.control.clearFaults();
    const ids = [first, second];
    await waitFor('both campaigns are finished', () => isOver(database, ids), WITHIN_MS);
    const decided = await waitFor(
      'every row is decided',
      async () => {
        await decide(scene);
        const rows = (await Promise.all(ids.map((id) => readRows(database, id)))).flat();
        return rows.every(({ status }) => status !== 'uncertain') && rows;
      },
      WITHIN_MS,
    );
    const isConflict = (row: (typeof decided)[number]) =>
      row.status === 'invalid' && row.problems.some(({ code }) => code === 'reference_conflict');
    const without = decided.filter(
      (row) => row.status !== 'registered' && row.status !== 'known' && !isConflict(row),
    ).length;
    const conflicts = decided.filter(isConflict).map(({ tenantReference }) => tenantReference);
    const effects = await countEffects(scene);
    promise('R50', {
      figure: `${effects.join(', ')} references registered never, once, more than once; ${without} rows without a result; ${conflicts.length} of 1 changed rows in conflict`,
      bound: `0, ${ROWS}, 0; 0; 1`,
    });
    expect([effects, without, conflicts]).toEqual([[0, ROWS, 0], 0, [scene.references[0]]]);
  });

  itAtLength('turns red when the progress of a row is recorded after the call', async () => {
    const scene = await prepare(100, 'test/faults/support/processes/late-progress.process.ts');
    await scene.start();
    await holdAfter(scene, 0);
    const id = await scene.upload();
    await killInCall(scene);
    await scene.sandbox.control.clearFaults();
    await waitFor('the campaign is finished', () => isOver(scene.database, [id]), WITHIN_MS);
    expect((await countEffects(scene))[2]).toBeGreaterThan(0);
  });
});

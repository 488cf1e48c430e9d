import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { TestClient } from '../../setup/client.js';
import { useSandbox } from '../../setup/sandbox/sandbox-client.js';
import { startServiceProcess } from '../../setup/processes/service-process.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { ADMIN_KEY, testEnvironment } from '../../setup/test-environment.js';
import { startTestProcess, type TestProcess } from '../../setup/processes/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import { inTime, isLong, itAtLength, measureUntil, promise } from '../support/promise.js';
import { contradictions, type RegistrationRow } from '../support/evidence/registration-ledger.js';
import { waitUntilHeld } from '../support/waits.js';

const CRASHES = isLong ? 4 : 1;
/** The initial concurrency limit of a process. */
const IN_FLIGHT = 8;
const KNOWN_WITHIN_MS = 15_000;
const EAN = '376104250021234569';

const sandbox = useSandbox();
let database: TestDatabase;
let sql: pg.Client;
const processes: TestProcess[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  sql = await database.connect();
});
afterEach(async () => {
  await Promise.all(processes.splice(0).map((each) => each.stop()));
  await database.drop();
  await sandbox.control.reset();
});

const environment = (ROLE: string) => ({
  ...sandbox.environment,
  DATABASE_URL: database.url,
  ROLE,
  SCS_TIMEOUT_MS: '30000',
});

async function rows(): Promise<(RegistrationRow & { attempts: number })[]> {
  const { rows: all } = await sql.query(`
    SELECT id, tenant_reference AS "tenantReference", status, user_id AS "userId", attempts, updated_at AS "updatedAt"
    FROM registrations`);
  return all;
}

const post = (url: string, path: string, body: unknown) =>
  new TestClient(url, ADMIN_KEY).call('POST', path, body);

const register = (url: string, tenantReference: string) =>
  post(url, '/users', { tenantReference, gridLocations: [{ ean: EAN }] });

/** Registers users through the victim, and kills the victim while the sandbox holds all responses. Returns the time of the kill. */
async function crash(
  victim: TestProcess,
  references: readonly string[],
  whenAllAreHeld: () => Promise<unknown>,
): Promise<number> {
  const fault = await sandbox.control.addFault({
    kind: 'hold',
    operation: 'register_user',
    times: references.length,
  });
  const requests = references.map((reference) =>
    register(victim.url, reference).catch(() => 'the connection was lost'),
  );
  await waitUntilHeld(sandbox.control, references.length, fault.id);
  await whenAllAreHeld();
  const at = Date.now();
  victim.kill('SIGKILL');
  await victim.exited;
  expect(new Set(await Promise.all(requests))).toEqual(new Set(['the connection was lost']));
  await sandbox.control.release(fault.id);
  return at;
}

const referencesOf = (name: string) => Array.from({ length: IN_FLIGHT }, (_, index) => `${name}-${index}`);

describe('R16: a crash around the call is known', () => {
  it(`of ${CRASHES * IN_FLIGHT} calls whose sender was killed after the effect, all are uncertain in time and none is repeated`, async () => {
    const survivor = await startServiceProcess(environment('all'));
    processes.push(survivor);
    const crashedAt = new Map<string, number>();
    const crashAll = async () => {
      const victims = await Promise.all(
        Array.from({ length: CRASHES }, () => startServiceProcess(environment('api'))),
      );
      processes.push(...victims);
      const crashedBefore = new Set(crashedAt.keys());
      for (const [index, victim] of victims.entries()) {
        const references = referencesOf(`crash-${crashedAt.size}`);
        const isLast = isLong && index === victims.length - 1;
        // The last victim is killed only after it has renewed the leases of its calls.
        const at = await crash(victim, references, () =>
          isLast ? waitForRenewedLeases(references) : Promise.resolve(),
        );
        for (const reference of references) crashedAt.set(reference, at);
      }

      // Only the long test waits for the leases to expire.
      if (!isLong)
        await sql.query(
          `UPDATE registrations SET lease_until = clock_timestamp() - interval '1 ms' WHERE lease_until IS NOT NULL`,
        );
      const all = await waitFor(
        'all are uncertain',
        async () => {
          const now = await rows();
          return now.length === crashedAt.size && now.every(({ status }) => status === 'uncertain') && now;
        },
        2 * KNOWN_WITHIN_MS,
      );
      const delaysMs = all
        .filter(({ tenantReference }) => !crashedBefore.has(tenantReference))
        .map(({ tenantReference, updatedAt }) => updatedAt.getTime() - crashedAt.get(tenantReference)!);
      return { uncertain: all, latestMs: Math.max(...delaysMs) };
    };
    const { uncertain, latestMs } = await measureUntil((round) => round.latestMs < KNOWN_WITHIN_MS, crashAll);
    expect(latestMs).toBeLessThan(inTime(KNOWN_WITHIN_MS));
    const { rows: events } = await sql.query(
      `SELECT count(*)::int AS count FROM domain_events WHERE name = 'user.registration_uncertain'`,
    );
    expect(events).toEqual([{ count: crashedAt.size }]);
    // The process counts them after it has committed.
    await waitFor('all are counted', async () =>
      (await (await fetch(`${survivor.url}/metrics`)).text()).includes(
        `pv_onboarding_registration_calls_total{outcome="uncertain"} ${crashedAt.size}\n`,
      ),
    );

    // A retry by the caller changes nothing. Resolving with the remote service's user settles the registration.
    const users = await sandbox.control.users();
    await Promise.all(
      uncertain.map(async ({ id, tenantReference }) => {
        const repeated = await register(survivor.url, tenantReference);
        expect(repeated).toMatchObject({ status: 202, body: { id, status: 'uncertain' } });
        const user = users.find((each) => each.tenantReference === tenantReference);
        expect(await post(survivor.url, `/registrations/${id}/resolve`, user)).toMatchObject({
          status: 200,
          body: { status: 'registered', userId: user?.id, attempts: 1 },
        });
      }),
    );
    const ledger = await sandbox.control.ledger();
    const posts = ledger.requests['POST /api/v1/ssa/users'] ?? 0;
    promise('R16', {
      figure: `${uncertain.length} of ${crashedAt.size} uncertain within ${latestMs} ms, ${posts - crashedAt.size} second POSTs`,
      bound: `all, ${KNOWN_WITHIN_MS} ms, 0`,
    });
    expect(posts).toBe(crashedAt.size);
    expect(contradictions([...crashedAt.keys()], ledger, await rows())).toEqual([]);
  }, 240_000);

  itAtLength('is red when the intent is written after the call', async () => {
    const mutant = () =>
      startTestProcess('test/faults/support/processes/late-intent.process.ts', {
        ...testEnvironment(),
        ...environment('all'),
      });
    const [survivor, victim] = await Promise.all([mutant(), mutant()]);
    processes.push(survivor, victim);
    const references = referencesOf('late');
    await crash(victim, references, () => Promise.resolve());
    expect(await rows()).toEqual([]);
    // No intent records the first call, so a retry by the caller creates a second user.
    await Promise.all(references.map((reference) => register(survivor.url, reference)));
    const found = contradictions(references, await sandbox.control.ledger(), await rows());
    expect(found).toEqual(expect.arrayContaining(references.map((reference) => `${reference}: 2 effects`)));
  });
});

const waitForRenewedLeases = (references: readonly string[]) =>
  waitFor('the leases are renewed', async () => {
    const { rows: found } = await sql.query<{ renewed: boolean }>(
      `SELECT bool_and(lease_until > sent_at + interval '11 s') AS renewed FROM registrations WHERE tenant_reference = ANY ($1)`,
      [references],
    );
    return found[0]?.renewed;
  });

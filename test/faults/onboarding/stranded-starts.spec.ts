import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type pg from 'pg';
import { AbandonedStarts } from '../../../src/onboarding/start/abandoned-starts.service.js';
import { Database } from '../../../src/platform/database/database.js';
import type { StatusView } from '../../../src/status/status.view.js';
import { TestClient } from '../../setup/client.js';
import { ADMIN_KEY } from '../../setup/test-environment.js';
import { waitFor } from '../../setup/wait-for.js';
import { withClient } from '../../setup/database/with-client.js';
import { countStarts } from '../support/evidence/lost-starts.js';
import { allAtLength, isLong, itAtLength, promise } from '../support/promise.js';
import { startBeside, repeat, startReplicas, type Replicas } from '../support/replicas.js';
import { waitUntilHeld } from '../support/waits.js';

const STARTS = isLong ? 200 : 12;
/** The number of starts in flight in the process that is killed: its initial concurrency limit. */
const KILLED = 8;
/** The timeout of a call. The lease of a start lasts 2 s longer. */
const TIMEOUT_MS = isLong ? 10_000 : 3_000;
/** The duration of the disturbance: longer than a lease and `lock_timeout`. */
const DISTURBED_MS = isLong ? 60_000 : 6_000;
const ENDED_WITHIN_MS = isLong ? 15_000 : 60_000;
/** A start ends this long after its lease expired, 4 s for the worker to see it and 1 s until its next check. */
const SEEN_ENDED_MS = isLong ? ENDED_WITHIN_MS : 6_000;

let replicas: Replicas;
afterEach(() => replicas.close());

const database = (): Database => replicas.apps[0]!.database;

/** Begins a disturbance. Returns a function that ends it. */
type Disturb = (admin: pg.Client) => Promise<() => Promise<unknown>>;

/**
 * The disturbances. The number is how many sessions are started before: no start begins while the pool is full or the server is read-only.
 */
const DISTURBANCES: readonly (readonly [string, number, Disturb])[] = [
  [
    'a table is locked',
    0,
    async (admin) => {
      await admin.query('BEGIN; LOCK TABLE session_observations IN ACCESS EXCLUSIVE MODE');
      return () => admin.query('COMMIT');
    },
  ],
  [
    'the pool is full',
    STARTS / 10,
    async () => {
      const { pool } = database();
      const held = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
      return async () => held.forEach((client) => client.release());
    },
  ],
  [
    'the server is read-only',
    STARTS / 10,
    async (admin) => {
      const { rows } = await admin.query<{ name: string }>('SELECT current_database() AS name');
      // Only new connections get the changed default, so this ends the existing ones.
      const setReadOnly = async (value: 'on' | 'off') => {
        await admin.query(`ALTER DATABASE "${rows[0]!.name}" SET default_transaction_read_only = ${value}`);
        await admin.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name LIKE 'pv-onboarding%'`,
        );
      };
      await setReadOnly('on');
      return () => setReadOnly('off');
    },
  ],
];

/**
 * Disturbs the database while two processes start sessions, and kills one of them. No request is repeated. `sending`: the number of starts
 * that have not ended. `uncounted`: the number of sessions at the remote service minus those that are stored or counted as orphans.
 */
async function startWhile(
  disturb: Disturb,
  startedBefore: number,
  prepare?: (app: NestFastifyApplication) => void,
  endedWithinMs = ENDED_WITHIN_MS,
) {
  const environment = { SCS_TIMEOUT_MS: TIMEOUT_MS };
  replicas = await startReplicas({ count: 1, environment, ...(prepare && { prepare }) });
  const { control } = replicas.sandbox;
  const client = replicas.clients[0]!;
  const gridLocationIds = await repeat(STARTS, () => client.locate());
  const killed = await startBeside(replicas, 'src/main.ts', {
    ROLE: 'api',
    SCS_TIMEOUT_MS: 30_000,
    POLL_LEASE_MS: 60_000,
  });
  const startAll = (at: TestClient, ids: readonly string[]) =>
    Promise.allSettled(ids.map((id) => at.start(id)));
  const hold = await control.addFault({ kind: 'hold', operation: 'start_session', times: KILLED });
  const hungUp = startAll(new TestClient(killed.url, ADMIN_KEY), gridLocationIds.slice(0, KILLED));
  await waitUntilHeld(control, KILLED, hold.id);
  const others = startAll(client, gridLocationIds.slice(KILLED));
  await waitFor(
    'sessions are started',
    async () => (await control.ledger()).sessions.length >= KILLED + startedBefore,
  );
  await withClient(replicas.databaseUrl, async (admin) => {
    const end = await disturb(admin);
    await killed.stop('SIGKILL');
    await hungUp;
    await sleep(DISTURBED_MS);
    await end();
    await admin.query(
      `UPDATE session_starts SET lease_until = clock_timestamp() - interval '1 ms' WHERE grid_location_id = ANY($1::uuid[])`,
      [gridLocationIds.slice(0, KILLED)],
    );
  });
  await others;
  await waitFor('every start has ended', async () => (await countSending()) === 0, endedWithinMs).catch(
    () => {},
  );
  return judge(client, gridLocationIds);
}

const countSending = async (): Promise<number> =>
  (await database().query("SELECT FROM session_starts WHERE status = 'sending'")).length;

async function judge(client: TestClient, gridLocationIds: readonly string[]) {
  const starts = await countStarts(database(), await replicas.sandbox.control.ledger(), gridLocationIds);
  const stored = await database().query<{ gridLocationId: string }>(
    'SELECT grid_location_id AS "gridLocationId" FROM onboarding_sessions',
  );
  const storedOf = (id: string) => stored.filter(({ gridLocationId }) => gridLocationId === id).length;
  const errors = await database().query<{ error: string }>(
    'SELECT DISTINCT last_error AS error FROM session_starts WHERE grid_location_id = ANY($1::uuid[])',
    [gridLocationIds.slice(0, KILLED)],
  );
  const [announced] = await database().query<{ missing: number }>(
    `SELECT count(*) FILTER (WHERE events <> 1)::int AS missing
       FROM (SELECT (SELECT count(*) FROM domain_events e
                      WHERE e.name = 'session.start_failed' AND e.data ->> 'startId' = s.id::text) AS events
               FROM session_starts s WHERE s.status = 'failed') AS failed`,
  );
  return {
    unannounced: announced!.missing,
    remote: starts.reduce((sum, { effects }) => sum + effects, 0),
    stored: stored.length,
    orphans: starts.reduce((sum, { orphans }) => sum + orphans, 0),
    errorsOfKilled: errors.map(({ error }) => error),
    sending: await countSending(),
    uncounted: starts.reduce(
      (sum, { gridLocationId, effects, orphans }) =>
        sum + Math.abs(effects - storedOf(gridLocationId) - orphans),
      0,
    ),
    status: (await client.call<StatusView>('GET', '/status')).body.starts,
  };
}

const [[, , lockTable]] = DISTURBANCES as [(typeof DISTURBANCES)[0]];

describe('R67: no start is stranded by our own database', () => {
  it.each(allAtLength(DISTURBANCES))('while %s', async (what, startedBefore, disturb) => {
    const judged = await startWhile(disturb, startedBefore);
    const { remote, stored, orphans, errorsOfKilled, sending, uncounted, unannounced, status } = judged;
    promise('R67', {
      figure: `${what}: ${remote} sessions at the remote service, ${stored} stored, ${orphans} orphans; ${sending} starts not ended, ${uncounted} not counted, ${unannounced} failed and not announced once`,
      bound: '0, 0, 0',
    });
    expect({ sending, uncounted, unannounced, status }).toEqual({
      sending: 0,
      uncounted: 0,
      unannounced: 0,
      status: { abandoned: 0, oldestAbandonedSeconds: 0, orphans, newOrphans: orphans },
    });
    expect(orphans).toBeGreaterThanOrEqual(KILLED);
    expect(errorsOfKilled).toEqual([
      expect.stringMatching(/^the lease expired before the outcome was stored/),
    ]);
  });

  itAtLength('turns red when no worker ends abandoned starts', async () => {
    const mutate = (app: NestFastifyApplication) => {
      app.get(AbandonedStarts).onApplicationBootstrap = () => {};
    };
    const { sending, uncounted, status } = await startWhile(lockTable, 0, mutate, SEEN_ENDED_MS);
    expect([sending, uncounted, status.abandoned]).toEqual(Array(3).fill(KILLED));
  });
});

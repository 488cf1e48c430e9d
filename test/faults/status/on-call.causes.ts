import { jest } from '@jest/globals';
import { StatusService } from '../../../src/status/status.service.js';
import { FIND_OLDEST_TRANSACTION } from '../../../src/status/status.sql.js';
import { UsersStore } from '../../../src/users/user/users.store.js';
import { fromNow, insertReplica } from '../../setup/replicas.js';
import { waitFor } from '../../setup/wait-for.js';
import { seedSessions } from '../support/seeded-sessions.js';
import { changeStatement } from '../support/changed-statement.js';
import { repeatUntilEnd, type Cause, type Planted } from './planted.js';

/** Adds transitions of a session on each of the 8 days before, in the last 20 minutes of the same hour. */
const addHistory = ({ database, ids }: Planted, from: string | null, to: string) =>
  database.query(
    `INSERT INTO session_transitions (session_id, from_state, to_state, basis, rule, at)
     SELECT $1, $2, $3, 'observed', 'as_started', now() - day * interval '1 day' - n * interval '1 minute'
       FROM generate_series(1, 8) AS day, generate_series(1, 20) AS n`,
    [ids[0], from, to],
  );

const beginHistory = ({ database, ids }: Planted) =>
  database.query(
    `INSERT INTO session_transitions (session_id, to_state, basis, rule, at)
     VALUES ($1, 'awaiting_owner', 'observed', 'as_started', now() - interval '10 days')`,
    [ids[0]],
  );

/** Causes that a person on call met, in addition to the first causes. */
export const CAUSES_ON_CALL = {
  'slow statements use up the pool of an api': {
    async plant(planted) {
      const other = await planted.startAnother({ ROLE: 'api', DATABASE_POOL_SIZE: 2 });
      const { pool } = other.database;
      for (let n = 0; n < 8; n++)
        repeatUntilEnd(planted, 10, () => pool.query('SELECT pg_sleep(4) FROM users LIMIT 1'));
    },
    reasons: { connections_used_up: 'statements have waited for its DATABASE_POOL_SIZE connections for ' },
  },
  'the pages for owners have no name and no privacy statement in production': {
    plant({ app: { app, environment } }) {
      const status: object = app.get(StatusService);
      return Promise.resolve(
        Object.assign(status, { environment: { ...environment, NODE_ENV: 'production' } }),
      );
    },
    reasons: { brand_unnamed: 'BRAND_NAME is not set', privacy_unlinked: 'BRAND_PRIVACY_URL is not set' },
  },
  'a defect answers requests with 500': {
    async plant(planted) {
      const store = planted.app.app.get(UsersStore);
      jest.spyOn(store, 'listUsers').mockRejectedValue(new Error('a defect'));
      repeatUntilEnd(planted, 50, () => planted.client.call('GET', '/users'));
    },
    reasons: { requests_fail: 'requests of the last minute failed by a fault of ours' },
  },
  'no api runs': {
    environment: { ROLE: 'worker' },
    plant: () => Promise.resolve(),
    reasons: { no_api: 'no process with ROLE api or all is alive' },
    shown: null,
  },
  'workers vanish again and again': {
    async plant({ database }) {
      for (const name of ['crashed:1', 'crashed:2', 'crashed:3'])
        await insertReplica(database, { name, role: 'worker', expiresAt: fromNow(-1) });
    },
    reasons: { replicas_vanish: '3 processes ended within 10 minutes without stopping in order: crashed:' },
  },
  'the disk of the database is full': {
    async plant(planted) {
      const fail = `DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`;
      repeatUntilEnd(planted, 500, () => planted.database.query(fail));
    },
    reasons: { disk_full: 'the database has no space left' },
  },
  'the database becomes read-only': {
    async plant({ database, closing }) {
      const [{ name } = { name: '' }] = await database.query<{ name: string }>(
        'SELECT current_database() AS name',
      );
      const change = async (setting: string) => {
        await database.query(`BEGIN READ WRITE; ALTER DATABASE ${name} ${setting}; COMMIT`);
        const end = (which: string) =>
          database
            .query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${which}`)
            .catch(() => {});
        // The connection that ends all others ends last.
        await end('datname = current_database() AND pid <> pg_backend_pid()');
        await end('pid = pg_backend_pid()');
      };
      closing.push(() => change('RESET default_transaction_read_only'));
      await change('SET default_transaction_read_only = on');
    },
    reasons: { writes_fail: 'in a read-only transaction' },
    shown: null,
  },
  'no process may write its sign of life': {
    async plant({ database }) {
      await database.query(
        `CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN RAISE 'permission denied' USING ERRCODE = '42501'; END $$;
         CREATE TRIGGER refused BEFORE INSERT ON remote_replicas FOR EACH ROW EXECUTE FUNCTION public.refuse()`,
      );
    },
    reasons: { writes_fail: 'cannot write its sign of life: error: permission denied' },
  },
  'the clock of a process is 40 s ahead': {
    async plant({ database }) {
      await database.query(
        `CREATE FUNCTION public.shift() RETURNS trigger LANGUAGE plpgsql AS
         'BEGIN NEW.clock_offset_seconds := NEW.clock_offset_seconds + 40; RETURN NEW; END'`,
      );
      await database.query(
        'CREATE TRIGGER shift BEFORE INSERT OR UPDATE ON remote_replicas FOR EACH ROW EXECUTE FUNCTION public.shift()',
      );
    },
    reasons: { clocks_differ: 'its clock differs from that of the database by ' },
  },
  'a process uses another remote service': {
    plant: ({ database }) =>
      insertReplica(
        database,
        { name: 'test:1', role: 'api', expiresAt: fromNow(3_600) },
        { remoteService: 'https://test.scs.example' },
      ),
    reasons: { remote_services_differ: 'test:1 uses https://test.scs.example' },
  },
  'a process of another release was left out of a rollout': {
    async plant({ database }) {
      await database.query(`UPDATE remote_replicas SET joined_at = now() - interval '1 hour'`);
      const [joinedAt, expiresAt] = [fromNow(-86_400), fromNow(3_600)];
      const forgotten = { name: 'forgotten:1', role: 'api', joinedAt, expiresAt } as const;
      const newestMigration = '20261120000000_tables';
      await insertReplica(database, forgotten, { version: '0.0.9', newestMigration });
    },
    reasons: { releases_differ: 'forgotten:1 runs 0.0.9 (commit unknown, migration 20261120000000_tables)' },
  },
  'the broker cannot be reached': {
    environment: { EVENT_BROKER_URL: 'nats://127.0.0.1:1' },
    async plant({ client, database }) {
      await client.startNew();
      const fails = () => database.query('SELECT FROM broker_positions WHERE failing_since IS NOT NULL');
      await waitFor('the broker fails', async () => (await fails()).length > 0);
      await database.query(`UPDATE broker_positions SET failing_since = failing_since - interval '61 s'`);
    },
    reasons: { broker_failing: 'the broker has accepted no event for ' },
  },
  'a transaction is forgotten': {
    async plant({ app, database, closing }) {
      const age = 'clock_timestamp() - xact_start';
      changeStatement(app.app, FIND_OLDEST_TRANSACTION, age, `${age} + interval '20 minutes'`);
      const client = await database.pool.connect();
      await client.query(`SET idle_in_transaction_session_timeout = 0; BEGIN`);
      closing.push(() => client.release(true));
    },
    reasons: { transaction_old: 'has had a transaction open for 12' },
    shown: ['has had a transaction open for 20 min'],
  },
  'an inverter is listed for five customers': {
    async plant({ control, ids, database }) {
      const inverters = [{ id: '10000000-0000-4000-8000-000000000041' }];
      for (const id of ids) await control.fields(id, { set: { finished: true, active: false, inverters } });
      const listed = () => database.query('SELECT FROM inverters');
      await waitFor('the inverters', async () => (await listed()).length === ids.length);
    },
    reasons: { inverters_shared: '1 inverter is listed for 5 or more customers at once' },
  },
  'the remote service answers with the past': {
    async plant(planted) {
      await beginHistory(planted);
      await addHistory(planted, 'awaiting_owner', 'online');
      await planted.database.query(
        `INSERT INTO session_transitions (session_id, from_state, to_state, basis, rule, at)
         VALUES ($1, 'awaiting_owner', 'online', 'observed', 'as_started', now() - interval '30 minutes')`,
        [planted.ids[0]],
      );
    },
    reasons: { nothing_changes: 'reads per second, and no change of a session for 3' },
  },
  'starts have fallen': {
    async plant(planted) {
      await beginHistory(planted);
      await addHistory(planted, null, 'awaiting_owner');
    },
    reasons: { starts_fell: 'at the same hour of each of the last days there were at least 20' },
  },
  'the sessions of a brand cannot be read': {
    async plant({ client, control, database }) {
      // So many are read that the failures are too few in a row to open the breaker.
      await seedSessions(database, control, 40);
      for (let n = 0; n < 5; n++) {
        const { id } = await client.startNew({ brand: 'sunward' });
        await control.complete(id, { brand: 'sunward', onlineAfterMs: null });
      }
      const fault = { kind: 'answer', status: 500, operation: 'read_session', times: null } as const;
      await control.addFault({ ...fault, brand: 'sunward' });
    },
    reasons: { brand_unreachable: 'sunward: of its newest sessions, 5 cannot be read and 0 can' },
    also: ['held_back_by_breaker', 'remote_degraded', 'reads_stale', 'sessions_overdue'],
  },
  'reads get 500, and then 502': {
    async plant({ control, database }) {
      const answer = (status: number) =>
        control.addFault({ kind: 'answer', status, operation: 'read_session', times: null });
      await answer(500);
      const degraded = `SELECT FROM remote_operations WHERE operation = 'read_session' AND health = 'degraded'`;
      await waitFor('the trouble', async () => (await database.query(degraded)).length > 0);
      await control.clearFaults();
      await answer(502);
    },
    reasons: { remote_degraded: 'read_session: status 502' },
    also: ['held_back_by_breaker'],
    readsStop: true,
  },
} as const satisfies Record<string, Cause>;

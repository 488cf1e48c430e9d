import { afterEach, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SessionsStore } from '../../../src/onboarding/store/sessions.store.js';
import { Database } from '../../../src/platform/database/database.js';
import { waitFor } from '../../setup/wait-for.js';
import { gatePolling, type PollingGate } from '../support/polling-gate.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { startReplicas, type Replicas } from '../support/replicas.js';
import { seedSessions } from '../support/seeded-sessions.js';
import { waitUntilHeld } from '../support/waits.js';

const SESSIONS = isLong ? 500 : 40;
/** The initial concurrency limit of a replica. */
const TOGETHER = 8;

let replicas: Replicas;
let gate: PollingGate;
afterEach(() => replicas.close());

/** Seeds sessions that are online at the remote service. A trigger rejects all responses about one session. Returns the id of that session. */
async function poisonOne(mutate: (app: NestFastifyApplication) => void = () => {}): Promise<string> {
  replicas = await startReplicas({
    count: 1,
    prepare: (app) => {
      gate = gatePolling(app);
      mutate(app);
    },
  });
  const { control } = replicas.sandbox;
  const ids = await seedSessions(database(), control, SESSIONS);
  for (const id of ids) await control.online(id, { inverters: 1 });
  const poisoned = ids[TOGETHER - 1]!;
  await database().query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'poisoned'; END $$;
    CREATE TRIGGER poison BEFORE INSERT ON session_observations FOR EACH ROW
      WHEN (new.session_id = '${poisoned}') EXECUTE FUNCTION refuse()`);
  await readTogether(ids.slice(0, TOGETHER));
  return poisoned;
}

/** Lets the poller read only these sessions. Holds all responses and releases them at once, so that the poller writes them together. */
async function readTogether(ids: readonly string[]): Promise<void> {
  const { control } = replicas.sandbox;
  await database().query(
    `UPDATE session_polls
        SET due_at = clock_timestamp() + coalesce(array_position($1::uuid[], session_id) * interval '1 second' - interval '1 hour', interval '1 hour')`,
    [ids],
  );
  const hold = await control.addFault({ kind: 'hold', operation: 'read_session', times: ids.length });
  gate.open();
  await waitUntilHeld(control, ids.length);
  await database().query(
    `UPDATE session_polls SET due_at = clock_timestamp() - interval '1 ms' WHERE batch_id IS NULL`,
  );
  await control.release(hold.id);
}

const database = (): Database => replicas.apps[0]!.database;

async function countOnline(): Promise<number> {
  const [row] = await database().query<{ online: number }>(
    "SELECT count(*)::int AS online FROM onboarding_sessions WHERE state = 'online'",
  );
  return row!.online;
}

const findPostponed = () =>
  database().query<{ id: string; last_error: string; next_check_at: Date }>(
    `SELECT session_id AS id, last_error, next_check_at FROM admin.sessions WHERE last_error LIKE '%cannot be saved%'`,
  );

describe('R24: one poisoned row stops nobody', () => {
  it('saves every other session, and postpones the poisoned one with its error in admin.sessions', async () => {
    const poisoned = await poisonOne();
    await waitFor('every other session is online', async () => (await countOnline()) === SESSIONS - 1);
    const [postponed, ...more] = await waitFor('it is postponed', async () => {
      const rows = await findPostponed();
      return rows.length > 0 && rows;
    });
    promise('R24', {
      figure: `${await countOnline()} of ${SESSIONS} converge, ${more.length + 1} postponed and shown`,
      bound: `${SESSIONS - 1}, 1`,
    });
    expect([postponed!.id, postponed!.last_error, more]).toEqual([
      poisoned,
      'the response cannot be saved (SQLSTATE P0001)',
      [],
    ]);
    expect(postponed!.next_check_at.getTime()).toBeGreaterThan(Date.now() + 60_000);
    expect(await replicas.clients[0]!.session(poisoned)).toMatchObject({ state: 'awaiting_owner' });
  });

  itAtLength('turns red when sessions that are saved together fail together', async () => {
    const failTogether = (app: NestFastifyApplication) => {
      const sessions = app.get(SessionsStore);
      const applyReadings = sessions.applyReadings.bind(sessions);
      const failed = new Map<string, Error>();
      sessions.applyReadings = async (readings) => {
        const error = readings.map(({ sessionId }) => failed.get(sessionId)).find(Boolean);
        if (error !== undefined) throw error;
        return applyReadings(readings).catch((cause: Error) => {
          for (const { sessionId } of readings) failed.set(sessionId, cause);
          throw cause;
        });
      };
    };
    await poisonOne(failTogether);
    await waitFor(
      'each is online or postponed',
      async () => (await countOnline()) + (await findPostponed()).length === SESSIONS,
    );
    expect(await countOnline()).toBeLessThan(SESSIONS - 1);
  });
});

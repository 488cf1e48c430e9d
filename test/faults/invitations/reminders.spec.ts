import { afterEach, describe, expect, it } from '@jest/globals';
import { scheduleOf } from '../../../src/invitations/reminders/reminder.rules.js';
import { LOCK_DUE, RemindersStore } from '../../../src/invitations/reminders/reminders.store.js';
import { changeStatement } from '../support/changed-statement.js';
import { itAtLength } from '../support/promise.js';
import { repeat, startReplicas, type ReplicaOptions, type Replicas } from '../support/replicas.js';

const INVITATIONS = 20;
const SCHEDULE = scheduleOf([48], 'UTC', 'off');

let replicas: Replicas;
afterEach(() => replicas.close());

/** Lets two replicas search for due reminders at once, several times each. Returns the number of reminders of each invitation. */
async function remind(prepare?: ReplicaOptions['prepare']) {
  replicas = await startReplicas({ count: 2, environment: { ROLE: 'api' }, ...(prepare && { prepare }) });
  const [client] = replicas.clients;
  await repeat(INVITATIONS, async () =>
    client!.call('POST', '/invitations', { gridLocationId: await client!.locate() }),
  );
  const database = replicas.apps[0]!.database;
  await database.query(
    `UPDATE invitations SET created_at = created_at - interval '3 days', reminder_due_at = clock_timestamp() - interval '1 ms'`,
  );
  await Promise.all(
    [...replicas.apps, ...replicas.apps].map(({ app }) => app.get(RemindersStore).remind(SCHEDULE)),
  );
  const counts = await database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM domain_events WHERE name = 'invitation.reminder_due' GROUP BY subject`,
  );
  return counts.map(({ count }) => count);
}

describe('a reminder is announced once', () => {
  it('by two replicas that look for it at the same time', async () => {
    expect(await remind()).toEqual(Array(INVITATIONS).fill(1));
  });

  itAtLength('turns red when a replica does not lock what is due', async () => {
    const counts = await remind((app) => changeStatement(app, LOCK_DUE, ' FOR UPDATE SKIP LOCKED', ''));
    expect(Math.max(...counts)).toBeGreaterThan(1);
  });
});

import { describe, expect, it } from '@jest/globals';
import { scheduleOf } from '../../../src/invitations/reminders/reminder.rules.js';
import { RemindersStore } from '../../../src/invitations/reminders/reminders.store.js';
import { Database } from '../../../src/platform/database/database.js';
import { TestClient, type EventAnswer } from '../../setup/client.js';
import { startTestApp, useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

interface Invitation {
  readonly id: string;
  readonly url: string;
  readonly userId: string;
  readonly gridLocationId: string;
  readonly state: string;
  readonly expiresAt: string;
}

// Starts no worker: only the tests call the reminders.
const service = useTestApp({
  POLL_MIN_INTERVAL_MS: 50,
  POLL_TICK_MS: 50,
  REMINDER_QUIET_HOURS: 'off',
  REMINDER_SCHEDULE_HOURS: [0],
});
const client = TestClient.of(service);
const SCHEDULE = scheduleOf([48, 120], 'UTC', 'off');
const EVENT = 'pv.invitation.reminder_due.v1';

const query = <Row>(text: string, values: readonly unknown[]) =>
  service.app.get(Database).query<Row>(text, values);

async function invite(input: object = {}): Promise<Invitation> {
  const gridLocationId = await client.locate();
  return (await client.call<Invitation>('POST', '/invitations', { gridLocationId, ...input })).body;
}

/** Moves all times of an invitation into the past, and makes its reminder due. */
const age = (id: string, hours: number) =>
  query(
    `UPDATE invitations
        SET created_at = created_at - $2 * interval '1 hour', opened_at = opened_at - $2 * interval '1 hour',
            started_at = started_at - $2 * interval '1 hour', wished_at = wished_at - $2 * interval '1 hour',
            reminded_at = reminded_at - $2 * interval '1 hour', reminder_due_at = clock_timestamp() - interval '1 second'
      WHERE id = $1`,
    [id, hours],
  );

const remind = () => service.app.get(RemindersStore).remind(SCHEDULE);
const remindersOf = async (id: string): Promise<EventAnswer[]> =>
  (await client.events()).filter(({ type, subject }) => type === EVENT && subject === id);
const dueAt = async (id: string) =>
  (await query<{ at: Date | null }>('SELECT reminder_due_at AS at FROM invitations WHERE id = $1', [id]))[0]!
    .at;

describe('a reminder', () => {
  it('says which attempt it is and where the owner stands, without the link and the EAN', async () => {
    const { id, url, userId, gridLocationId, expiresAt } = await invite({
      locale: 'nl',
      metadata: { label: 'Barn' },
    });
    await remind();
    expect(await remindersOf(id)).toEqual([]);
    await age(id, 49);
    await remind();
    const [reminder] = await remindersOf(id);
    expect(reminder?.data).toEqual({
      invitationId: id,
      gridLocationId,
      userId,
      tenantReference: expect.any(String),
      brands: [],
      locale: 'nl',
      metadata: { label: 'Barn' },
      campaignId: null,
      expiresAt,
      attempt: 1,
      attempts: 3,
      cause: 'never_opened',
    });
    expect(JSON.stringify(reminder)).not.toContain(url.split('/').at(-1));
    expect(JSON.stringify(reminder)).not.toMatch(/\b\d{18}\b/);
    await fetch(`${url}?opened=1`, { method: 'POST' });
    await age(id, 72);
    await remind();
    const again = await client.call<Invitation>('POST', '/invitations', { gridLocationId });
    expect(again).toMatchObject({ status: 200, body: { id } });
    await age(id, 500);
    await remind();
    expect((await remindersOf(id)).map(({ data }) => [data.attempt, data.cause])).toEqual([
      [1, 'never_opened'],
      [2, 'opened_not_started'],
    ]);
    expect(await dueAt(id)).toEqual(new Date(Date.parse(expiresAt) - 24 * 3_600_000));
  });

  it('is not due once the owner is done or the invitation is revoked', async () => {
    const [done, revoked] = [await invite(), await invite()];
    await fetch(done.url, { method: 'POST', redirect: 'manual' });
    const { body } = await client.call<{ items: { id: string }[] }>(
      'GET',
      `/onboarding/pv?gridLocationId=${done.gridLocationId}`,
    );
    await service.sandbox!.control.complete(body.items[0]!.id, { onlineAfterMs: null });
    await waitFor('the owner to be done', async () => {
      const read = await client.call<Invitation>('GET', `/invitations/${done.id}`);
      return read.body.state === 'owner_done';
    });
    await client.call('DELETE', `/invitations/${revoked.id}`);
    for (const { id } of [done, revoked]) await age(id, 100);
    await remind();
    expect([await remindersOf(done.id), await remindersOf(revoked.id)]).toEqual([[], []]);
    expect(await dueAt(done.id)).toBeNull();
  });

  it('says nothing of a person once the user has been erased', async () => {
    const { id, userId } = await invite({ locale: 'nl', metadata: { label: 'Kerkstraat 12' } });
    await age(id, 49);
    await remind();
    await client.call('DELETE', `/users/${userId}`);
    const [reminder] = await remindersOf(id);
    expect(reminder?.data).toMatchObject({ tenantReference: null, metadata: {}, locale: null, attempt: 1 });
    expect(await dueAt(id)).toBeNull();
  });

  it('is announced by a worker, unless reminders are switched off', async () => {
    const [overdue, reminded] = [await invite(), await invite()];
    const start = (REMINDER_SCHEDULE_HOURS: number[]) =>
      startTestApp({ ...service.environment, ROLE: 'worker', REMINDER_SCHEDULE_HOURS });
    await age(reminded.id, 49);
    await query('UPDATE invitations SET expires_at = clock_timestamp() WHERE id = $1', [overdue.id]);
    const off = await start([0]);
    await waitFor('another task to have run', async () =>
      (await client.eventsOf(overdue.id)).includes('invitation.expired'),
    );
    await off.close();
    expect(await remindersOf(reminded.id)).toEqual([]);
    const on = await start([48]);
    const [reminder] = await waitFor('the reminder', async () => {
      const reminders = await remindersOf(reminded.id);
      return reminders.length > 0 && reminders;
    });
    await on.close();
    expect(reminder?.data).toMatchObject({ attempt: 1, attempts: 2 });
  });
});

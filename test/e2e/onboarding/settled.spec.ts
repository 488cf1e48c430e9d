import { afterEach, describe, expect, it } from '@jest/globals';
import { Poller } from '../../../src/onboarding/poll/poller.js';
import { READ_POLLING } from '../../../src/status/status.sql.js';
import { TestClient, type SessionAnswer } from '../../setup/client.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

const DAY = 86_400_000;
// An absent inverter is missing after 320 ms, and a session that is not found is gone after as long.
const FAST = { ROLE: 'all', POLL_TICK_MS: 20, POLL_MIN_INTERVAL_MS: 10, POLL_MAX_INTERVAL_MS: 100 } as const;
const ENDINGS = ['session.closed', 'session.reopened', 'session.lost', 'inverter.missing', 'inverter.online'];

type Settled = SessionAnswer & { readonly stalled: { readonly cause: string } | null };

interface InvitationAnswer {
  readonly id: string;
  readonly state: string;
  readonly url: string;
  readonly onlineAt: string;
  readonly expiresAt: string;
}

function settledSessionsOf(service: ReturnType<typeof useTestApp>) {
  const client = TestClient.of(service);
  const database = () => service.database;
  const sandbox = () => service.sandbox!.control;
  const find = (id: string) => client.session(id) as Promise<Settled>;

  /** Starts a session, brings it online with two inverters, and moves its clock until it is settled. */
  async function settle(): Promise<Settled> {
    const { id } = await client.startNew();
    await sandbox().online(id, { inverters: 2 });
    await waitFor('it is online', async () => (await find(id)).state === 'online');
    await database().query(
      `UPDATE session_polls SET anchor_at = anchor_at - interval '72 hours', due_at = now() - interval '1 ms' WHERE session_id = $1`,
      [id],
    );
    return waitFor('it is settled', async () => {
      const session = await find(id);
      return session.closedAt !== null && session;
    });
  }

  /** Makes a settled session due, as a week later. */
  const aWeekLater = (id: string) =>
    database().query(`UPDATE session_polls SET due_at = now() - interval '1 ms' WHERE session_id = $1`, [id]);

  const isRead = async (id: string, since: number) =>
    ((await sandbox().ledger()).reads[id]?.total ?? 0) > since;
  const failReads = () =>
    sandbox().addFault({ kind: 'answer', operation: 'read_session', status: 500, body: '{}', times: null });
  const readsOf = async (id: string) => (await sandbox().ledger()).reads[id]!.total;

  /** Makes a settled session due, and waits until it was read and the result was written. */
  async function readAgain(id: string): Promise<void> {
    const reads = await readsOf(id);
    await aWeekLater(id);
    await waitFor('it is read', async () => isRead(id, reads));
    await waitFor(
      'the result is written',
      async () => (await database().query('SELECT FROM poll_batches')).length === 0,
    );
  }

  const endingsOf = async (id: string) =>
    (await client.eventsOf(id)).filter((name) => ENDINGS.includes(name)).slice(2);

  return { client, database, sandbox, find, settle, aWeekLater, readAgain, failReads, readsOf, endingsOf };
}

describe('a settled session', () => {
  const service = useTestApp(FAST);
  const { client, database, sandbox, find, settle, aWeekLater, readAgain, failReads, readsOf, endingsOf } =
    settledSessionsOf(service);
  afterEach(() => sandbox().clearFaults());

  it('is closed, and read again after a week', async () => {
    const { id, closedAt, nextCheckAt } = await settle();
    const days = (Date.parse(nextCheckAt!) - Date.parse(closedAt!)) / DAY;
    expect(days).toBeGreaterThan(6.9);
    expect(days).toBeLessThan(7.8);
    await readAgain(id);
    expect(await find(id)).toMatchObject({ state: 'online', closedAt, stalled: null });
    const [row] = await database().query(
      `SELECT phase, due_at > now() + interval '6 days' AS "isLater" FROM session_polls WHERE session_id = $1`,
      [id],
    );
    expect(row).toEqual({ phase: 'watching', isLater: true });
    expect(await endingsOf(id)).toEqual(['session.closed']);
  });

  it('announces once that its inverters are missing, is stalled, and announces that they are back', async () => {
    const { id, inverters, closedAt } = await settle();
    for (const inverter of inverters) await sandbox().removeInverter(id, inverter.id);
    await aWeekLater(id);
    const stalled = await waitFor('it is stalled', async () => {
      const session = await find(id);
      return session.stalled !== null && session;
    });
    expect(stalled).toMatchObject({ state: 'online', closedAt, stalled: { cause: 'all_inverters_missing' } });
    await readAgain(id);
    expect(await endingsOf(id)).toEqual(['session.closed', 'inverter.missing', 'inverter.missing']);

    await sandbox().online(id, { inverters: 1 });
    await aWeekLater(id);
    await waitFor('it is stalled by one', async () =>
      (await find(id)).stalled?.cause.startsWith('some_inverters'),
    );
    expect(await find(id)).toMatchObject({ state: 'online', closedAt });
    expect((await endingsOf(id)).slice(3)).toEqual(['inverter.online']);
  });

  it('leads from the link of its invitation to a new connection once all its inverters are missing, and says why', async () => {
    const { id, gridLocationId, inverters } = await settle();
    const created = await client.call<InvitationAnswer>('POST', '/invitations', { gridLocationId });
    expect(created.body).toMatchObject({ state: 'online', disconnectedAt: null });
    const link = new URL(new URL(created.body.url).pathname, service.url).href;
    const pageIn = async (language: string) => (await fetch(`${link}?lang=${language}`)).text();
    expect(await pageIn('en')).toContain('Your installation is connected');

    for (const inverter of inverters) await sandbox().removeInverter(id, inverter.id);
    await aWeekLater(id);
    const findInvitation = async () =>
      (await client.call<InvitationAnswer>('GET', `/invitations/${created.body.id}`)).body;
    const again = await waitFor('the link works again', async () => {
      const invitation = await findInvitation();
      return invitation.state !== 'online' && invitation;
    });
    const { onlineAt } = created.body;
    const countOnline = async () => {
      const items = await client.list<{ online: number }>('/funnel?by=campaign');
      return items.reduce((sum, { online }) => sum + online, 0);
    };
    expect(again).toMatchObject({ state: 'invited', onlineAt, disconnectedAt: expect.any(String) });
    expect(Date.parse(again.expiresAt)).toBeGreaterThan(Date.parse(created.body.expiresAt));
    expect(await countOnline()).toBe(1);
    const reasons = {
      en: 'no longer be reached',
      nl: 'niet meer bereikbaar',
      de: 'nicht mehr erreichbar',
      fr: 'ne répondent plus',
    };
    for (const [language, reason] of Object.entries(reasons))
      expect(await pageIn(language)).toContain(reason);

    // For the API, the location is online as before.
    expect(await client.start(gridLocationId)).toMatchObject({ status: 200, body: { id } });
    const begun = await fetch(link, { method: 'POST', redirect: 'manual' });
    expect(begun.status).toBe(303);
    const listed = await client.call<{ items: SessionAnswer[] }>(
      'GET',
      `/onboarding/pv?gridLocationId=${gridLocationId}`,
    );
    const next = listed.body.items.find((session) => session.id !== id)!;
    expect(begun.headers.get('location')).toBe(next.startUrl);
    await sandbox().online(next.id, { inverters: 1 });
    await waitFor('it is online again', async () => (await findInvitation()).state === 'online');
    expect(await findInvitation()).toMatchObject({ onlineAt, disconnectedAt: null });
    expect(await countOnline()).toBe(1);
    expect(await pageIn('en')).toContain('Your installation is connected');

    await database().query(`UPDATE invitations SET created_at = created_at - interval '200 days'`);
    await sandbox().removeInverter(next.id, (await find(next.id)).inverters[0]!.id);
    const lostAgain = await waitFor('it is lost again', async () => {
      const invitation = await findInvitation();
      return invitation.state !== 'online' && invitation;
    });
    expect(Date.parse(lostAgain.expiresAt) - Date.now()).toBeLessThan(91 * DAY);

    // If its date passes meanwhile, it is expired until inverters are back.
    const expire = `UPDATE invitations SET expires_at = now() - interval '1 ms', expired_at = now() WHERE id = $1`;
    await database().query(expire, [created.body.id]);
    expect((await findInvitation()).state).toBe('expired');
    await sandbox().online(next.id, { inverters: 1 });
    await waitFor('it is online after its date', async () => (await findInvitation()).state === 'online');
    expect(await findInvitation()).toMatchObject({ onlineAt, disconnectedAt: null });
  });

  it('is no longer watched once the remote service does not have it, and is neither lost nor stalled', async () => {
    const { id, inverters, closedAt } = await settle();
    for (const inverter of inverters) await sandbox().removeInverter(id, inverter.id);
    await aWeekLater(id);
    await waitFor('it is stalled', async () => (await find(id)).stalled !== null);
    await readAgain(id);
    const { checkedAt } = await find(id);
    await sandbox().deleteSession(id);
    const other = await client.startNew();
    await aWeekLater(id);
    await waitFor('its watch ends', async () => (await find(id)).nextCheckAt === null);
    await waitFor('nothing is stalled', async () => (await find(id)).stalled === null);
    expect(await find(id)).toMatchObject({ state: 'online', closedAt, checkedAt });
    expect(await endingsOf(id)).toEqual(['session.closed', 'inverter.missing', 'inverter.missing']);
    expect((await find(other.id)).state).toBe('awaiting_owner');
  });

  it('raises nothing in an outage, and is read after it', async () => {
    const { id, closedAt } = await settle();
    // Only settled sessions are left, so that no other session is read late.
    await database().query(`DELETE FROM session_polls WHERE phase <> 'watching'`);
    await failReads();
    await aWeekLater(id);
    await waitFor('its read fails', async () => {
      const rows = await database().query(
        `SELECT FROM session_polls WHERE session_id = $1 AND last_error IS NOT NULL`,
        [id],
      );
      return rows.length > 0;
    });
    await database().query(
      `UPDATE session_polls SET failures = 9, failing_since = now() - interval '3 hours', claimed_at = now() - interval '8 days',
         checked_at = now() - interval '8 days', due_at = now() - interval '1 day' WHERE session_id = $1`,
      [id],
    );
    const status = await client.call<{ readonly reasons: readonly { readonly code: string }[] }>(
      'GET',
      '/status',
    );
    const codes = status.body.reasons.map(({ code }) => code);
    for (const code of ['nothing_read', 'reads_stale', 'sessions_overdue', 'budget_short'])
      expect(codes).not.toContain(code);
    expect(await find(id)).toMatchObject({ state: 'online', closedAt, stalled: null });
    const reads = await readsOf(id);
    await sandbox().clearFaults();
    await waitFor('it is read, and nothing has failed', async () => {
      await aWeekLater(id);
      const [row] = await database().query<{ failures: number }>(
        `SELECT failures FROM session_polls WHERE session_id = $1`,
        [id],
      );
      return row!.failures === 0;
    });
    expect(await readsOf(id)).toBeGreaterThan(reads);
    expect(await endingsOf(id)).toEqual(['session.closed']);
  });

  it('is read only while the budget has room', async () => {
    const { id } = await settle();
    const polls = service.app.get(Poller)['polls'];
    await database().query(
      `INSERT INTO read_budget (id, measure_after, stretch, wanted_per_second) VALUES (true, now() + interval '1 hour', 1.01, 2)
       ON CONFLICT (id) DO UPDATE SET measure_after = excluded.measure_after, stretch = excluded.stretch`,
    );
    const reads = await readsOf(id);
    await aWeekLater(id);
    expect(await polls.claimSettled(10)).toEqual([]);
    expect(await readsOf(id)).toBe(reads);
    await database().query('UPDATE read_budget SET stretch = 1, measure_after = now()');
    await waitFor('it is read', async () => (await readsOf(id)) > reads);
  });

  it('stays watched when a caller reads it in vain', async () => {
    const { id, nextCheckAt } = await settle();
    await failReads();
    expect((await client.call('POST', `/onboarding/pv/${id}/refresh`)).status).toBe(503);
    await sandbox().clearFaults();
    await waitFor('a caller reads it', async () => {
      const { status } = await client.call('POST', `/onboarding/pv/${id}/refresh`);
      return status === 200;
    });
    const session = await find(id);
    expect(session.closedAt).not.toBeNull();
    expect(Date.parse(session.nextCheckAt!)).toBeGreaterThan(Date.parse(nextCheckAt!) - DAY);
  });

  it('hides no other session from the status, however many are settled', async () => {
    await client.startNew();
    // Each row fills a page, so that the table has more pages than a sample.
    await database().query(`
      BEGIN;
      ALTER TABLE session_polls ALTER last_error SET STORAGE PLAIN;
      SET LOCAL session_replication_role = replica;
      INSERT INTO session_polls (session_id, user_id, due_at, claimed_at, checked_at, phase, anchor_at, last_error)
      SELECT gen_random_uuid(), gen_random_uuid(), now() + interval '7 days', now(), now(), 'watching', now(), repeat('x', 5000)
        FROM generate_series(1, 3000);
      COMMIT`);
    for (let times = 0; times < 10; times++) {
      const [row] = await database().query<{ poller: { phases: { phase: string }[] } }>(READ_POLLING);
      expect(row!.poller.phases).toContainEqual(expect.objectContaining({ phase: 'awaiting_owner' }));
    }
  });
});

describe('with WATCH_ONLINE_DAYS=0', () => {
  const service = useTestApp({ ...FAST, WATCH_ONLINE_DAYS: 0 });
  const { database, find, settle } = settledSessionsOf(service);

  it('a settled session is not read again', async () => {
    const session = await settle();
    expect(session.nextCheckAt).toBeNull();
  });

  it('sessions that were watched before no longer are', async () => {
    const { id, userId } = await settle();
    await database().query(
      `INSERT INTO session_polls (session_id, user_id, due_at, claimed_at, checked_at, phase, anchor_at)
       VALUES ($1, $2, now() + interval '7 days', now(), now(), 'watching', now())`,
      [id, userId],
    );
    await waitFor('its watch ends', async () => (await find(id)).nextCheckAt === null);
  });
});

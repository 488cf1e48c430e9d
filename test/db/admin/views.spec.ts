import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { useTestDatabase } from '../../setup/database/test-database.js';
import { insertCustomer, insertRow } from '../valid-rows.js';

type Values = Readonly<Record<string, unknown>>;

const MINUTE_MS = 60_000;
const ago = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS);
const BEFORE = ago(20);
const LAST = ago(6);
const AT_CHANGE = ago(600);

describe('the views of admin', () => {
  const database = useTestDatabase();
  let client: pg.Client;
  let place: { readonly user_id: string; readonly grid_location_id: string };

  beforeAll(async () => {
    client = await database.connect();
  });
  beforeEach(async () => {
    const { userId, gridLocationId } = await insertCustomer(client);
    place = { user_id: userId, grid_location_id: gridLocationId };
  });

  async function insertSession(values: Values = {}): Promise<string> {
    const row = { ...place, last_checked_at: AT_CHANGE, ...values };
    return (await insertRow<{ id: string }>(client, 'onboarding_sessions', row)).id;
  }

  /** Inserts a watched session that was claimed at BEFORE, read successfully, and claimed again at LAST. */
  async function insertWatched(poll: Values = {}, values: Values = {}): Promise<string> {
    const session_id = await insertSession(values);
    const times = { due_at: ago(-5), claimed_at: LAST, checked_at: BEFORE };
    await insertRow(client, 'session_polls', { session_id, user_id: place.user_id, ...times, ...poll });
    return session_id;
  }

  async function insertBatch(leaseUntil: Date): Promise<string> {
    const row = await insertRow<{ id: string }>(client, 'poll_batches', { lease_until: leaseUntil });
    return row.id;
  }

  async function readSession(id: string): Promise<Values> {
    const { rows } = await client.query<Values>('SELECT * FROM admin.sessions WHERE session_id = $1', [id]);
    return rows[0]!;
  }

  async function stuck(id: string): Promise<{ readonly reason: string; readonly what_to_do: string }[]> {
    return (await client.query('SELECT reason, what_to_do FROM admin.stuck WHERE id = $1', [id])).rows;
  }

  describe('say when a session was last read', () => {
    it('by the last claim, once its batch is gone', async () => {
      const session = await readSession(await insertWatched({ batch_id: 999_999 }));
      expect(session).toMatchObject({ checked_at: LAST, being_read: false });
    });

    it('by the last good read, after one that failed', async () => {
      const session = await readSession(
        await insertWatched({ claimed_at: BEFORE, failures: 1, last_error: 'reset' }),
      );
      expect(session).toMatchObject({ checked_at: BEFORE, last_error: 'reset' });
    });

    it('by its last change, once it is closed', async () => {
      const id = await insertSession({ state: 'online', closed_at: ago(1), close_reason: 'settled' });
      expect(await readSession(id)).toMatchObject({
        checked_at: AT_CHANGE,
        next_check_at: null,
        waiting_for: null,
      });
    });
  });

  describe('say why a session is stuck', () => {
    const failed = { claimed_at: BEFORE, checked_at: BEFORE };
    const REFRESH = /^If the cause is gone: POST \S+\/refresh$/;
    const START = /^Ask the provider, and start a new one: POST \S+ with the body \{"reuse": false\}$/;
    const failing = { ...failed, failures: 3, last_error: 'reset' };
    type Case = readonly [string, Values, Values, unknown, RegExp | null];
    const cases: readonly Case[] = [
      ['nothing, when all is well', {}, {}, null, null],
      ['nothing of an error that a later read has overtaken', { last_error: 'breaker_open' }, {}, null, null],
      [
        'nothing of one failure a moment ago',
        { claimed_at: ago(1), checked_at: ago(1), failures: 1, last_error: 'reset' },
        {},
        null,
        null,
      ],
      [
        'nothing of one failure after a long time without a read',
        { ...failed, failures: 1, failing_since: ago(9), last_error: 'reset' },
        {},
        null,
        null,
      ],
      [
        'nothing of reads that have not been sent for a moment',
        { ...failed, failing_since: ago(1), last_error: 'breaker_open' },
        {},
        null,
        null,
      ],
      [
        'two failures, one at once and one after a while',
        { ...failed, failures: 2, failing_since: ago(9), last_error: 'reset' },
        {},
        'it could not be read: reset',
        REFRESH,
      ],
      [
        'one failure that no read has followed',
        { ...failed, failures: 1, failing_since: ago(9), due_at: ago(6), last_error: 'breaker_open' },
        {},
        'it could not be read: breaker_open',
        REFRESH,
      ],
      [
        'reads that are not sent',
        { ...failed, last_error: 'breaker_open' },
        {},
        'it could not be read: breaker_open',
        REFRESH,
      ],
      ...['awaiting_owner', 'online', 'unrecognised'].map((state): Case => [
        `reads that fail, if ${state}`,
        failing,
        { state },
        'its last reads failed: reset',
        REFRESH,
      ]),
      [
        'reads that find nothing',
        { ...failed, failures: 2, not_found: 2 },
        {},
        'its last reads found it on no path (404 or 410)',
        REFRESH,
      ],
      [
        'a read that is overdue',
        { due_at: ago(7.5) },
        {},
        'its read is overdue: see admin.poll_lag',
        REFRESH,
      ],
      [
        'changes that are too frequent',
        { flapping_since: ago(9), changes_clear_at: ago(-9) },
        {},
        /^the responses of the remote service change too often/,
        START,
      ],
      [
        'too many inverters',
        { phase: 'unrecognised' },
        { state: 'unrecognised', rule: 'too_many_inverters' },
        /^the remote service lists more inverters/,
        /^Ask the provider why it lists so many inverters\.$/,
      ],
      [
        'flags that are not described',
        { phase: 'unrecognised' },
        { state: 'unrecognised', finished: true, active: true },
        /finished=true, active=true, expired=absent$/,
        /^Ask the provider what the flags mean/,
      ],
      [
        'an expiry that the remote service does not report',
        {},
        { expires_at: ago(7) },
        /^expires_at has passed/,
        START,
      ],
      ['nothing, when nobody has read it since its expiry', {}, { expires_at: ago(5) }, null, null],
      [
        'an expiry while the installation is awaited',
        { phase: 'awaiting_installation' },
        { state: 'awaiting_installation', basis: 'inferred', expires_at: ago(7) },
        /^expires_at has passed/,
        /^Compare with the usual time/,
      ],
      [
        'a session that the remote service has lost',
        {},
        { state: 'lost' },
        /^the remote service does not know it/,
        START,
      ],
    ];

    it.each(cases)('%s, and what to do about it', async (_what, poll, values, reason, advice) => {
      const id = await insertWatched(poll, values);
      const { stuck_reason } = await readSession(id);
      if (reason instanceof RegExp) expect(stuck_reason).toMatch(reason);
      else expect(stuck_reason).toBe(reason);
      const words = (await stuck(id)).map(({ what_to_do }) => what_to_do);
      expect(words).toEqual(advice === null ? [] : [expect.stringMatching(advice)]);
    });

    it.each<readonly [string, Values, Values, Date]>([
      ['reads fail', { ...failing, failing_since: ago(12) }, {}, ago(12)],
      ['reads find nothing', { ...failed, failures: 2, not_found: 2, failing_since: ago(12) }, {}, ago(12)],
      ['reads are not sent', { ...failed, last_error: 'open', failing_since: ago(12) }, {}, ago(12)],
      ['its read is due', { due_at: ago(7.5) }, {}, ago(7.5)],
      ['responses change too often', { flapping_since: ago(9), changes_clear_at: ago(-9) }, {}, ago(9)],
      ['its flags changed', {}, { state: 'unrecognised', state_changed_at: ago(50) }, ago(50)],
      ['it was lost', {}, { state: 'lost', state_changed_at: ago(50) }, ago(50)],
      ['it expired', {}, { expires_at: ago(7) }, ago(7)],
      ['it was closed', {}, { state: 'lost', closed_at: ago(3), close_reason: 'lost' }, ago(3)],
    ])('since %s, not since the last good read', async (_what, poll, values, since) => {
      const id = await insertWatched(poll, values);
      const { rows } = await client.query<{ since: Date }>('SELECT since FROM admin.stuck WHERE id = $1', [
        id,
      ]);
      expect(rows).toHaveLength(1);
      expect(Math.abs(rows[0]!.since.getTime() - since.getTime())).toBeLessThan(5_000);
    });

    it('when reads began to fail, but not if a good read came later', async () => {
      const failing_since = ago(12);
      const still = await insertWatched({ ...failed, failing_since, failures: 2 });
      expect((await readSession(still)).failing_since).toEqual(failing_since);
      const good = await insertWatched({ failing_since }, { brand: 'Alpha' });
      expect((await readSession(good)).failing_since).toBeNull();
    });

    it('a reader that died', async () => {
      const id = await insertWatched({ batch_id: await insertBatch(ago(2)) });
      expect((await readSession(id)).stuck_reason).toBe(
        'its reader died, and no other worker has taken over',
      );
      expect(await stuck(id)).toEqual([
        expect.objectContaining({ what_to_do: expect.stringMatching(REFRESH) }),
      ]);
    });

    it('that no worker watches it', async () => {
      const id = await insertSession();
      expect((await readSession(id)).stuck_reason).toMatch(/^no worker watches it/);
      expect(await stuck(id)).toEqual([
        expect.objectContaining({ what_to_do: expect.stringMatching(REFRESH) }),
      ]);
    });

    it('that all its inverters are missing', async () => {
      const session_id = await insertWatched({}, { state: 'online' });
      const { id } = await insertRow<{ id: string }>(client, 'inverters', {
        session_id,
        missing_since: ago(3),
      });
      expect((await readSession(session_id)).stuck_reason).toBe(
        'it is online, and all its inverters are missing',
      );
      const [advised] = await stuck(session_id);
      const { rows } = await client.query<{ since: Date }>('SELECT since FROM admin.stuck WHERE id = $1', [
        session_id,
      ]);
      expect(Math.abs(rows[0]!.since.getTime() - ago(3).getTime())).toBeLessThan(5_000);
      expect(advised?.what_to_do).toMatch(/^Ask the customer or the provider whether the inverters/);
      await client.query('UPDATE inverters SET missing_since = NULL WHERE id = $1', [id]);
      expect((await readSession(session_id)).stuck_reason).toBeNull();
    });
  });

  describe('list what is stuck', () => {
    it('a session that was closed as lost, until a new start of its brand supersedes it', async () => {
      const closed = { closed_at: ago(1), close_reason: 'lost' };
      const id = await insertSession({ state: 'lost', brand: 'Alpha', ...closed });
      expect(await stuck(id)).toEqual([
        {
          reason: expect.stringMatching(/no longer knows it$/),
          what_to_do:
            `Ask the provider, and start a new one: POST /api/v1/onboarding/pv/${place.grid_location_id} ` +
            'with the body {"brand": "Alpha", "reuse": false}',
        },
      ]);
      await client.query('UPDATE onboarding_sessions SET superseded_at = now() WHERE id = $1', [id]);
      expect(await stuck(id)).toEqual([]);
    });

    it('a start whose lease has expired', async () => {
      const start = { grid_location_id: place.grid_location_id, status: 'sending' };
      const { id } = await insertRow<{ id: string }>(client, 'session_starts', {
        ...start,
        lease_until: ago(2),
      });
      expect(await stuck(id)).toEqual([
        {
          reason: 'its lease expired, and no worker has ended it',
          what_to_do: expect.stringMatching(/is one running/),
        },
      ]);
      const { rows } = await client.query<{ since: Date }>('SELECT since FROM admin.stuck WHERE id = $1', [
        id,
      ]);
      expect(Math.abs(rows[0]!.since.getTime() - ago(2).getTime())).toBeLessThan(5_000);
      await client.query('UPDATE session_starts SET lease_until = now() WHERE id = $1', [id]);
      expect(await stuck(id)).toEqual([]);
    });
  });

  describe('survive a response', () => {
    const responses: readonly [string, string | null, Values][] = [
      ['without a body', null, { finished: null, inverters: null, answer: null }],
      ['that is not an object', '[1, 2]', { finished: null, inverters: null, answer: [1, 2] }],
      [
        'with an escaped NUL',
        '{"finished":true,"x":"\\u0000"}',
        { finished: 'true', answer: { finished: true, x: '\ufffd' } },
      ],
      ['with half a surrogate pair', '{"finished":true,"x":"\\ud800"}', { finished: 'true' }],
      ['with an escaped backslash before u0000', '{"finished":true,"x":"\\\\u0000"}', { finished: 'true' }],
      ['with a number beyond any', '{"finished":1e999999,"x":1}', { finished: '1e999999' }],
      [
        'with flags of other types',
        '{"finished":{"a":[]},"inverters":"two"}',
        { finished: '{"a":[]}', inverters: null },
      ],
      ['with a key twice', '{"finished":true,"finished":false}', { finished: 'false' }],
      [
        'that contains startUrls at any depth',
        '{"startUrl":"https://x/\\"y","a":{"startUrl" : "z"},"b":"startUrl"}',
        { answer: { startUrl: null, a: { startUrl: null }, b: 'startUrl' } },
      ],
    ];

    it.each(responses)('%s', async (_what, body, shown) => {
      const session_id = await insertSession({ state: 'expired' });
      await insertRow(client, 'session_observations', { session_id, body });
      const where = 'WHERE session_id = $1';
      const { rows } = await client.query(`SELECT * FROM admin.session_observations ${where}`, [session_id]);
      expect(rows).toEqual([expect.objectContaining(shown)]);
      const timeline = await client.query(`SELECT * FROM admin.session_timeline ${where}`, [session_id]);
      expect(timeline.rows).toHaveLength(1);
    });
  });

  it('show what one transaction wrote in the order of cause and effect, whatever the times of its rows', async () => {
    const locked = ago(30);
    const after = (ms: number) => new Date(locked.getTime() + ms);
    const session_id = await insertSession({ state: 'lost', closed_at: locked, close_reason: 'lost' });
    await insertRow(client, 'domain_events', { subject: session_id, name: 'session.lost', time: after(3) });
    const { id } = await insertRow<{ id: string }>(client, 'session_observations', {
      session_id,
      http_status: 404,
      observed_at: after(2),
    });
    await insertRow(client, 'session_transitions', {
      session_id,
      from_state: 'awaiting_owner',
      to_state: 'lost',
      observation_id: id,
      at: locked,
    });
    const { rows } = await client.query<{ kind: string }>(
      'SELECT kind FROM admin.session_timeline WHERE session_id = $1 ORDER BY at, step, number',
      [session_id],
    );
    expect(rows.map((row) => row.kind)).toEqual(['observation', 'transition', 'closed', 'event']);
  });

  describe('say what a registration waits for, and what to do about it', () => {
    const sending = { lease_token: '11111111-1111-4111-8111-111111111111' };
    const cases: readonly [string, Values, string, RegExp][] = [
      [
        'whose outcome is unknown',
        { status: 'uncertain' },
        'a person, to decide: its outcome is unknown',
        /^Ask the provider .* POST \/api\/v1\/registrations\/[0-9a-f-]+\/resolve /,
      ],
      [
        'that is being sent',
        { ...sending, lease_until: ago(-1) },
        'the remote service, to respond',
        /^Nothing: it is being sent/,
      ],
      [
        'whose sender died',
        { ...sending, lease_until: ago(1) },
        'a worker, to make it uncertain: its sender died',
        /^Its sender died/,
      ],
      ['that no worker sends', { next_attempt_at: ago(6) }, 'a worker, to send it', /is one running/],
      [
        'that waits for its next attempt',
        { next_attempt_at: ago(-1) },
        'its next attempt',
        /^Nothing: it is sent again by itself/,
      ],
    ];

    it.each(cases)('%s', async (_what, values, awaited, words) => {
      const { id } = await insertRow<{ id: string }>(client, 'registrations', values);
      const { rows } = await client.query<{ waiting_for: string; what_to_do: string }>(
        'SELECT waiting_for, what_to_do FROM admin.registrations_open WHERE registration_id = $1',
        [id],
      );
      expect(rows[0]?.waiting_for).toBe(awaited);
      expect(rows[0]?.what_to_do).toMatch(words);
    });
  });

  describe('say why a webhook endpoint gets nothing', () => {
    const cases: readonly [string, Values, Values | null, RegExp | null][] = [
      ['nothing, when all has arrived', {}, { status: 'delivered', next_attempt_at: null }, null],
      ['nothing, when something is on its way', {}, {}, null],
      [
        'that a person or app disabled it',
        { disabled_at: 'now', disabled_reason: 'requested' },
        {},
        /by a person or app/,
      ],
      ['that it is gone', { disabled_at: 'now', disabled_reason: 'gone' }, {}, /since it returned 410/],
      [
        'that it failed for days',
        { disabled_at: 'now', disabled_reason: 'failing' },
        {},
        /after nothing but failures/,
      ],
      ['that it is failing', { failures: 3, failing_since: ago(9) }, {}, /^the last 3 attempts failed/],
      ['that it asked for a wait', { quiet_until: ago(-5) }, {}, /^it asked for a wait until/],
      ['that no worker sends', {}, { due_at: ago(6) }, /is one running/],
      ['nothing, when it is due since 4 minutes', {}, { due_at: ago(4), created_at: ago(60) }, null],
      ['that no worker sends what follows a gap', { read_to: 1 }, null, /is one running/],
      ['that nothing happened', {}, null, /^nothing that it subscribes to has happened/],
      ['nothing, when what has arrived was deleted', { last_delivered_at: ago(90) }, null, null],
    ];

    it.each(cases)('%s', async (_what, values, delivery, words) => {
      const event = { time: ago(6) };
      const { position } = await insertRow<{ position: string }>(client, 'domain_events', event);
      // Leaves gaps between the sequences, as a restore does.
      await client.query('UPDATE domain_events SET sequence = 10 * position WHERE sequence IS NULL');
      const endpoint = { read_to: `${position}0`, ...values };
      const { id } = await insertRow<{ id: string }>(client, 'webhook_endpoints', endpoint);
      if (delivery !== null) {
        const { due_at = 'now', ...row } = delivery;
        const { subject } = await insertRow<{ subject: string }>(client, 'webhook_deliveries', {
          endpoint_id: id,
          position,
          ...row,
        });
        if (!('status' in row))
          await insertRow(client, 'webhook_subjects', { endpoint_id: id, subject, due_at });
      }
      const { rows } = await client.query<{ silent_because: string | null }>(
        'SELECT silent_because FROM admin.webhook_endpoints WHERE endpoint_id = $1',
        [id],
      );
      if (words === null) expect(rows[0]?.silent_because).toBeNull();
      else expect(rows[0]?.silent_because).toMatch(words);
    });
  });

  describe('say since when a webhook endpoint gets nothing', () => {
    const [disabledAt, failingSince, until, made] = [ago(30), ago(50), ago(-70), ago(90)];
    const times = { failing_since: failingSince, failures: 2, created_at: made, last_delivered_at: ago(80) };
    it.each([
      ['disabled by a person', { disabled_at: disabledAt, disabled_reason: 'requested' }, disabledAt],
      ['gone', { disabled_at: disabledAt, disabled_reason: 'gone' }, disabledAt],
      ['failing for days', { disabled_at: disabledAt, disabled_reason: 'failing' }, disabledAt],
      ['failing', {}, failingSince],
      ['waited for', { failures: 0, failing_since: null, quiet_until: until }, until],
    ])('%s', async (_what, values, at) => {
      const { id } = await insertRow<{ id: string }>(client, 'webhook_endpoints', { ...times, ...values });
      const { rows } = await client.query<{ silent_because: string; at: string }>(
        `SELECT silent_because, format('%s', $2::timestamptz(3)) AS at FROM admin.webhook_endpoints WHERE endpoint_id = $1`,
        [id, at],
      );
      expect(rows[0]!.silent_because).toContain(rows[0]!.at);
    });

    it.each([
      ['4 minutes', ago(4), /^nothing that it subscribes to/],
      ['6 minutes', ago(6), /is one running/],
    ])('unread events of %s ago', async (_what, time, because) => {
      const { rows: last } = await client.query<{ newest: string }>(
        'SELECT coalesce(max(sequence), 0) AS newest FROM domain_events',
      );
      const { id } = await insertRow<{ id: string }>(client, 'webhook_endpoints', {
        read_to: last[0]!.newest,
      });
      await insertRow(client, 'domain_events', { time, sequence: String(BigInt(last[0]!.newest) + 1n) });
      const text = 'SELECT silent_because FROM admin.webhook_endpoints WHERE endpoint_id = $1';
      const { rows } = await client.query<{ silent_because: string | null }>(text, [id]);
      expect(rows[0]!.silent_because).toMatch(because);
    });
  });

  it.each([
    [2, []],
    [4, []],
    [5, [{ kind: 'inverter', reason: 'the remote service lists it for five or more customers at once' }]],
  ])('show an inverter that is listed for %i customers at once as stuck: %j', async (customers, expected) => {
    const id = randomUUID();
    for (let nth = 0; nth < customers; nth++) {
      const { userId, gridLocationId } = await insertCustomer(client);
      place = { user_id: userId, grid_location_id: gridLocationId };
      const first_seen_at = ago(90 - nth);
      await insertRow(client, 'inverters', { session_id: await insertSession(), id, first_seen_at });
    }
    const { rows } = await client.query('SELECT kind, reason FROM admin.stuck WHERE id = $1', [id]);
    expect(rows).toEqual(expected);
    const since = `SELECT since = (SELECT max(first_seen_at) FROM inverters WHERE id = $1) AS "isSinceTheFifth" FROM admin.stuck WHERE id = $1`;
    expect((await client.query(since, [id])).rows).toEqual(expected.map(() => ({ isSinceTheFifth: true })));
  });
});

import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { useTestDatabase } from '../../setup/database/test-database.js';
import { newEan } from '../../setup/ean.js';
import { insertCustomer, insertRow, type Table } from '../valid-rows.js';

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

  const insertUncertain = async (): Promise<string> =>
    (await insertRow<{ id: string }>(client, 'registrations', { status: 'uncertain' })).id;

  async function readSession(id: string): Promise<Values> {
    const { rows } = await client.query<Values>('SELECT * FROM admin.sessions WHERE session_id = $1', [id]);
    return rows[0]!;
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
        stalled: null,
      });
    });
  });

  it('say when reads began to fail, but not if a good read came later', async () => {
    const failing_since = ago(12);
    const failed = { claimed_at: BEFORE, checked_at: BEFORE };
    const still = await insertWatched({ ...failed, failing_since, failures: 2 });
    expect((await readSession(still)).failing_since).toEqual(failing_since);
    const good = await insertWatched({ failing_since }, { brand: 'Alpha' });
    expect((await readSession(good)).failing_since).toBeNull();
  });

  it.each([
    ['session', 'admin.sessions', 'session_id', 'unwatched', insertSession],
    ['registration', 'admin.registrations_open', 'registration_id', 'uncertain', insertUncertain],
  ] as const)('say why a %s is stalled', async (kind, view, key, cause, insert) => {
    const id = await insert();
    const read = async () => (await client.query(`SELECT stalled FROM ${view} WHERE ${key} = $1`, [id])).rows;
    expect(await read()).toEqual([{ stalled: null }]);
    await client.query(
      `INSERT INTO stalls (kind, subject, cause, since, evidence) VALUES ($1, $2, $3, now(), '{}')`,
      [kind, id, cause],
    );
    expect(await read()).toEqual([{ stalled: cause }]);
  });

  // The view `of` its table | the columns that it does not show | values of the row | what else it shows. Without `=`, the customer's or a time.
  const ROWS = `
    api_keys | id key_hash | created_at last_used_at revoked_at last_refused_at refused_401=1 refused_403=2 refused_429=3 |
    audit_log | id | target=it request_id=one details={"a":1} | key_name=null
    contract_drift of remote_drift | | expected=number first_seen_at |
    events of domain_events | id time traceparent | sequence=1000000000 |
    inverters | id absent_since | session_id first_seen_at=yesterday last_seen_at missing_since | tenant_reference ean brand
    poll_batches | id | claimed_at lease_until | lease_expired=true
    read_habits | age seconds | brand | from_seconds="33" known_changes="1"
    registrations | id metadata campaign_id lease_token lease_until | attempts=3 last_error=reset created_at updated_at lease_token lease_until next_attempt_at sent_at | being_sent=true
    registrations_open of registrations | id metadata campaign_id user_id lease_token lease_until | attempts=3 last_error=reset created_at updated_at next_attempt_at sent_at | stalled=null
    remote_tokens | token_ciphertext lease_token lease_until credentials_fingerprint probed_at | generation=2 token_ciphertext=x token_type=Bearer expires_in_raw=9 obtained_at renew_at expires_at rejected_at failures=5 last_error=no next_attempt_at lease_until=tomorrow | present=true being_renewed=true
    session_observations | id body hash | session_id source=start http_status=404 observed_at | led_to=null
    session_starts | id request lease_token lease_until | grid_location_id brand orphans=1 attempts=3 last_error=reset created_at updated_at lease_until=tomorrow | tenant_reference ean being_sent=true
    session_transitions | id | session_id from_state=lost at=yesterday | tenant_reference brand left_at=null
    sessions of onboarding_sessions | id metadata start_url_ciphertext started_updated_at last_checked_at | user_id grid_location_id brand expired=false created_at updated_at expires_at recorded_at state_changed_at changed_at superseded_at closed_at close_reason=lost | tenant_reference ean inverters="0" being_read=false
    stalled of stalls | subject | user_id grid_location_id tenant_reference brand campaign_id note=call assignee=me since=yesterday raised_at snoozed_until | ean
    tasks | every_ms lease_token | once=deployment started_at ended_at last_error=no due_at |
    users | id | first_name=A last_name=B email=C metadata={"a":1} created_at updated_at registered_at | sessions="0"`;

  it.each(
    ROWS.trim()
      .split('\n')
      .map((row) => row.split('|').map((part) => part.trim())),
  )('show of %s all but %s', async (name, hidden, given, more) => {
    const [tenant_reference, ean, brand] = [randomUUID(), newEan(), 'acme'];
    const { userId, gridLocationId } = await insertCustomer(client, tenant_reference, ean);
    const whose = { user_id: userId, grid_location_id: gridLocationId, brand };
    const { id } = await insertRow(client, 'onboarding_sessions', whose);
    const ids = { ...whose, session_id: id, tenant_reference, ean, campaign_id: id, lease_token: id };
    const read = (text = '', parse = (value: string): unknown => value): Values =>
      Object.fromEntries(
        text.match(/\S+/g)?.map((word, nth) => {
          const [column = '', value] = word.split('=');
          return [column, value === undefined ? (ids[column as keyof typeof ids] ?? ago(nth)) : parse(value)];
        }) ?? [],
      );
    const [view = '', table = view] = name.split(' of ');
    const row = Object.entries(await insertRow(client, table as Table, read(given)));
    const same = Object.fromEntries(row.filter(([column]) => !hidden.split(' ').includes(column)));
    const { rows } = await client.query(`SELECT * FROM admin.${view}`);
    expect(rows).toContainEqual(expect.objectContaining({ ...same, ...read(more, JSON.parse) }));
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

  it('count the rows of a campaign in each status', async () => {
    const { id: campaign_id } = await insertRow<{ id: string }>(client, 'campaigns', { status: 'running' });
    const { id: registration_id } = await insertRow(client, 'registrations');
    const statuses = [
      'sent',
      'accepted',
      'invalid',
      'registered',
      'known',
      'rejected',
      'uncertain',
      'cancelled',
    ];
    let line = 1;
    for (const [nth, status] of statuses.entries())
      for (let row = 0; row <= nth; row++)
        await insertRow(client, 'campaign_rows', { campaign_id, line: ++line, status, registration_id });
    await insertRow(client, 'campaigns', { status: 'receiving' });
    const { rows } = await client.query(
      `SELECT format('%s', ARRAY[accepted, invalid, registered, known, rejected, uncertain, cancelled]) AS counts FROM admin.campaigns`,
    );
    expect(rows).toEqual([{ counts: '{3,3,4,5,6,7,8}' }]);
  });

  it('count what a webhook endpoint has to get, and show when', async () => {
    const { id: endpoint_id } = await insertRow<{ id: string }>(client, 'webhook_endpoints', { read_to: 0 });
    const due_at = ago(-5);
    await insertRow(client, 'webhook_subjects', { endpoint_id, subject: 's', due_at });
    const failed = {
      status: 'failed',
      next_attempt_at: null,
      last_attempt_at: ago(1),
      last_error: 'the last',
    };
    for (const values of [{ created_at: BEFORE }, { last_error: 'an earlier' }, failed]) {
      const { position } = await insertRow<{ position: string }>(client, 'domain_events');
      const delivery = { endpoint_id, subject: 's', position, last_attempt_at: ago(2), ...values };
      await insertRow(client, 'webhook_deliveries', delivery);
    }
    const read = async (columns: string, view: string) =>
      (
        await client.query<Values>(`SELECT ${columns} FROM admin.${view} WHERE endpoint_id = $1 ORDER BY 1`, [
          endpoint_id,
        ])
      ).rows;
    expect(await read('pending, failed, oldest_pending_since, last_error', 'webhook_endpoints')).toEqual([
      { pending: '2', failed: '1', oldest_pending_since: BEFORE, last_error: 'the last' },
    ]);
    const deliveries = await read('position, status, next_attempt_at', 'webhook_deliveries');
    expect(deliveries.map(({ status, next_attempt_at }) => [status, next_attempt_at])).toEqual([
      ['pending', due_at],
      ['pending', null],
      ['failed', null],
    ]);
  });

  it('read the state of invitations without a call of its function for each', async () => {
    const { rows } = await client.query<Values>('EXPLAIN VERBOSE SELECT state FROM admin.invitations');
    expect(JSON.stringify(rows)).toMatch(/owner_done/);
    expect(JSON.stringify(rows)).not.toMatch(/invitation_state/);
  });

  async function insertStall(subject: string, cause: string, since: unknown): Promise<void> {
    await client.query(
      `INSERT INTO stall_causes (kind, cause, waits_for, urgency, meaning, remedies)
       VALUES ('endpoint', $1, 'tenant', 'soon', 'It has the cause ' || $1 || '.', '{}') ON CONFLICT DO NOTHING`,
      [cause],
    );
    await insertRow(client, 'stalls', { kind: 'endpoint', subject, cause, since, evidence: '{}' });
  }

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
      ['why it is stalled', { cause: 'failing' }, {}, /^It has the cause failing\. Since /],
      ['nothing, when it has failed only now', { failures: 1, failing_since: ago(1) }, {}, null],
      ['that it asked for a wait', { quiet_until: ago(-5) }, {}, /^it asked for a wait until/],
      ['that no worker sends', {}, { due_at: ago(6) }, /is one running/],
      ['nothing, when it is due since 4 minutes', {}, { due_at: ago(4), created_at: ago(60) }, null],
      ['that no worker sends what follows a gap', { read_to: 1 }, null, /is one running/],
      ['that nothing happened', {}, null, /^nothing that it subscribes to has happened/],
      ['nothing, when what has arrived was deleted', { last_delivered_at: ago(90) }, null, null],
    ];

    it.each(cases)('%s', async (_what, { cause, ...values }, delivery, words) => {
      const event = { time: ago(6) };
      const { position } = await insertRow<{ position: string }>(client, 'domain_events', event);
      // Leaves gaps between the sequences, as a restore does.
      await client.query('UPDATE domain_events SET sequence = 10 * position WHERE sequence IS NULL');
      const endpoint = { read_to: `${position}0`, ...values };
      const { id } = await insertRow<{ id: string }>(client, 'webhook_endpoints', endpoint);
      if (cause !== undefined) await insertStall(id, 'failing', ago(20));
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
      ['stalled', { cause: 'failing' }, failingSince],
      ['waited for', { failures: 0, failing_since: null, quiet_until: until }, until],
    ])('%s', async (_what, { cause, ...values }: Values, at) => {
      const { id } = await insertRow<{ id: string }>(client, 'webhook_endpoints', { ...times, ...values });
      if (cause !== undefined) await insertStall(id, 'failing', failingSince);
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
});

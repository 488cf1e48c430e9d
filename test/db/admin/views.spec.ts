import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { useTestDatabase } from '../../setup/database/test-database.js';
import { newEan } from '../../setup/ean.js';
import { HANDLER, insertCustomer, insertRow, type Table } from '../valid-rows.js';

type Values = Readonly<Record<string, unknown>>;

const MINUTE_MS = 60_000;
const ago = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS);
const BEFORE = ago(20);
const LAST = ago(6);
const AT_CHANGE = ago(600);
const LONG_AGO = ago(700);
const ANY: unknown = expect.anything();

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

  /** Returns when the inverters of the session, which were first seen long ago, were last seen. */
  async function readLastSeen(session_id: string, values: Values = {}): Promise<unknown> {
    const times = { first_seen_at: ago(900), last_seen_at: LONG_AGO };
    const { id } = await insertRow(client, 'inverters', { session_id, ...times, ...values });
    const text = 'SELECT last_seen_at FROM admin.inverters WHERE inverter_id = $1';
    return (await client.query<{ last_seen_at: Date }>(text, [id])).rows[0]!.last_seen_at;
  }

  describe('say when a session was last read, and its inverters last seen', () => {
    const failing_since = ago(12);
    const reset = { failing_since, failures: 1, not_found: 2, last_error: 'reset' };
    const cases: readonly [string, Values, Values][] = [
      ['by the last claim, once its batch is gone', { batch_id: 999_999 }, { checked_at: LAST }],
      [
        'by the last good read, after one that failed',
        { claimed_at: BEFORE, ...reset },
        { checked_at: BEFORE, ...reset },
      ],
      [
        'by the last good read, while it is read',
        { batch: true, ...reset },
        { checked_at: BEFORE, being_read: true, ...reset },
      ],
      [
        'by the last claim, after a good read',
        reset,
        { checked_at: LAST, ...reset, failing_since: null, last_error: null },
      ],
    ];
    it.each(cases)('%s', async (_how, { batch, ...poll }, shown) => {
      const batch_id = batch === true ? (await insertRow(client, 'poll_batches')).id : null;
      const id = await insertWatched({ batch_id, ...poll });
      const due = { next_check_at: expect.any(Date), phase: 'awaiting_owner', being_read: false };
      expect(await readSession(id)).toMatchObject({ ...due, ...shown });
      expect(await readLastSeen(id)).toEqual(shown.checked_at);
    });

    it('by its last change, once it is closed', async () => {
      const id = await insertSession({ state: 'online', closed_at: ago(1), close_reason: 'settled' });
      expect(await readSession(id)).toMatchObject({ checked_at: AT_CHANGE, next_check_at: null });
      expect(await readLastSeen(id)).toEqual(AT_CHANGE);
    });

    it.each(['absent_since', 'missing_since'])('by its own time, for an inverter with %s', async (since) => {
      expect(await readLastSeen(await insertWatched(), { [since]: BEFORE })).toEqual(LONG_AGO);
    });
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

  it('show the words of the catalogue for the cause of a stall', async () => {
    const words = {
      meaning: 'It is.',
      waits_for: 'owner',
      urgency: 'later',
      before: 'Ask.',
      remedies: ['a'],
    };
    for (const cause of ['told', 'untold'])
      for (const kind of ['session', 'start'])
        await insertRow(client, 'stall_causes', { kind, cause, ...(kind + cause === 'starttold' && words) });
    const { subject } = await insertRow(client, 'stalls', { kind: 'start', cause: 'told' });
    const { rows } = await client.query('SELECT * FROM admin.stalled WHERE id = $1', [subject]);
    expect(rows).toEqual([expect.objectContaining(words)]);
  });

  it('show the states of a session with the times at which it entered and left each', async () => {
    const [one, other] = [await insertSession({ state: 'online' }), await insertSession({ brand: 'Alpha' })];
    const states = ['lost', 'online', 'lost', 'online'].map((to_state) => ({ session_id: one, to_state }));
    const at = [50, 40, 30, 20].map(ago);
    for (const [nth, values] of states.entries()) {
      await insertRow(client, 'session_transitions', { ...values, at: at[nth] });
      await insertRow(client, 'session_transitions', { session_id: other, at: ago(45) });
    }
    for (const missing_since of [null, BEFORE, BEFORE])
      await insertRow(client, 'inverters', { session_id: one, missing_since });
    expect(await readSession(one)).toMatchObject({
      online_at: at[1],
      inverters: '3',
      inverters_missing: '2',
    });
    const text = 'SELECT at, left_at FROM admin.session_transitions WHERE session_id = $1 ORDER BY at';
    const { rows } = await client.query<Values>(text, [one]);
    expect(rows).toEqual(at.map((entered, nth) => ({ at: entered, left_at: at[nth + 1] ?? null })));
  });

  it('show the EANs of a user in order', async () => {
    const eans = [1, 2, 3].map(newEan).sort();
    for (const ean of eans.toReversed())
      await insertRow(client, 'grid_locations', { user_id: place.user_id, ean });
    await insertRow(client, 'grid_locations', { user_id: place.user_id, ean: null });
    await client.query('DELETE FROM grid_locations WHERE id = $1', [place.grid_location_id]);
    const { rows } = await client.query('SELECT eans FROM admin.users WHERE user_id = $1', [place.user_id]);
    expect(rows).toEqual([{ eans }]);
  });

  it.each([
    ['key:', '', 'app'],
    ['console:key:', '', 'app'],
    ['other:key:', '', null],
    ['key:', '0', null],
  ])('show the name of the key for an actor %s…%s: %s', async (before, after, key_name) => {
    const { id } = await insertRow(client, 'api_keys');
    const actor = `${before}${String(id)}${after}`;
    await insertRow(client, 'audit_log', { actor });
    const { rows } = await client.query('SELECT key_name FROM admin.audit_log WHERE actor = $1', [actor]);
    expect(rows).toEqual([{ key_name }]);
  });

  it.each([
    [5, true],
    [-5, false],
  ])(
    'show the wait that the remote service asked for, if it ends in %d minutes: %s',
    async (minutes, isShown) => {
      const quiet_until = ago(-minutes);
      const text = `UPDATE remote_operations SET quiet_until = $1, health = 'degraded', reason = 'why', since = $2 WHERE operation = 'token'`;
      await client.query(text, [quiet_until, BEFORE]);
      const { rows } = await client.query(`SELECT * FROM admin.remote_health WHERE operation = 'token'`);
      const shown = {
        health: 'degraded',
        since: BEFORE,
        reason: 'why',
        quiet_until: isShown ? quiet_until : null,
      };
      expect(rows).toEqual([{ operation: 'token', ...shown }]);
    },
  );

  it('show the parts of the size of each table, the largest first', async () => {
    await client.query('ANALYZE users');
    const { rows } = await client.query<Readonly<Record<string, string>>>(
      `SELECT size.*, pg_indexes_size(format('%I', name)::regclass) AS indexes FROM admin.table_sizes AS size`,
    );
    const sums = rows.map(
      (row) => Number(row.table_bytes) + Number(row.index_bytes) + Number(row.toast_bytes),
    );
    expect(sums).toEqual(rows.map((row) => Number(row.total_bytes)));
    expect(sums).toEqual(sums.toSorted((a, b) => b - a));
    expect(rows.map((row) => row.index_bytes)).toEqual(rows.map((row) => row.indexes));
    const estimates = rows.map((row) => Number(row.estimated_rows));
    expect(Math.min(...estimates)).toBe(0);
    expect(Math.max(...estimates)).toBeGreaterThan(0);
  });

  it('show how far behind the reading of sessions is, for all and for each phase', async () => {
    await client.query('DELETE FROM session_polls');
    await client.query(
      'UPDATE read_budget SET stretch = 2, wanted_per_second = 3.333, allowed_per_second = 4',
    );
    for (const [reads_per_second, expires_at] of [
      [1, ago(-5)],
      [2.5, ago(-5)],
      [9, ago(5)],
    ] as const)
      await insertRow(client, 'remote_replicas', { reads_per_second, expires_at });
    const [live, over] = await Promise.all(
      [ago(-5), ago(5)].map(
        async (lease_until) => (await insertRow(client, 'poll_batches', { lease_until })).id,
      ),
    );
    const polls: readonly Values[] = [
      { due_at: ago(10) },
      { due_at: ago(20), failures: 1 },
      { due_at: ago(40), phase: 'late' },
      { due_at: ago(50), batch_id: live },
      { due_at: ago(50), batch_id: live },
      { due_at: ago(50), batch_id: over },
      { due_at: ago(-50) },
      { due_at: ago(90), failures: 1, batch_id: live, phase: 'watching' },
    ];
    for (const [nth, poll] of polls.entries()) await insertWatched(poll, { brand: `brand ${nth}` });
    const changed = { from_state: 'awaiting_owner', to_state: 'online' };
    // When it was recorded, changed at the remote service and seen, in minutes ago; the first two count.
    const changes = [
      [8, 6, 5, changed],
      [8, 7, 5, changed],
      [8, 6, 5, { to_state: 'online' }],
      [70, 68, 61, changed],
      [8, 9, 5, changed],
      [30, 15, 5, changed],
    ] as const;
    for (const [nth, [recorded, updated, at, values]] of changes.entries()) {
      const times = { recorded_at: ago(recorded), updated_at: ago(updated), state_changed_at: ago(at) };
      const closed = { state: 'online', closed_at: ago(1), close_reason: 'settled' };
      const session_id = await insertSession({ brand: `changed ${nth}`, ...closed, ...times });
      await insertRow(client, 'session_transitions', { session_id, at: times.state_changed_at, ...values });
    }
    const { rows } = await client.query<Readonly<Record<string, string>>>('SELECT * FROM admin.poll_lag');
    const lags = rows.map((row) =>
      Object.entries(row)
        .map(
          ([name, value]) =>
            `${name} ${/overdue/.test(name) && value !== null ? Math.round(Number(value) / 60) : value}`,
        )
        .join(', '),
    );
    const shared =
      'stretch 2.00, wanted_per_second 3.33, allowed_per_second 4.00, read_per_second 3.50, noticed_seconds_p95 117.0, noticed_seconds_p50 90.0';
    expect(lags.sort()).toEqual([
      `phase all, watched 7, due 3, overdue_seconds_max 40, overdue_seconds_p95 38, overdue_seconds_p50 20, failing 1, being_read 3, live_batches 1, expired_leases 1, ${shared}`,
      `phase awaiting_owner, watched 6, due 2, overdue_seconds_max 20, overdue_seconds_p95 20, overdue_seconds_p50 15, failing 1, being_read 3, live_batches 1, expired_leases 1, ${shared}`,
      `phase late, watched 1, due 1, overdue_seconds_max 40, overdue_seconds_p95 40, overdue_seconds_p50 40, failing 0, being_read 0, live_batches 0, expired_leases 0, ${shared}`,
    ]);
  });

  // The view `of` its table | the columns that it does not show, or shows `as` another name | values of the row | what else it shows.
  // Without `=`, the customer's or a time.
  const ROWS = `
    api_keys | id:key_id key_hash | created_at last_used_at revoked_at last_refused_at refused_401=1 refused_403=2 refused_429=3 |
    audit_log | id:entry_id | target=it request_id=one details={"a":1} | key_name=null
    brand_waits | | |
    contract_drift of remote_drift | | expected=number first_seen_at |
    erasures | id:erasure_id reference_hash | user_id erased_at grid_locations=1 registrations=2 sessions=3 observations=4 inverters=5 events=6 consents=7 |
    events of domain_events | id:event_id time:at traceparent | sequence=1000000000 |
    inverters | id:inverter_id absent_since | session_id first_seen_at=yesterday last_seen_at missing_since | tenant_reference ean brand
    invitations | id:invitation_id token_hash token_ciphertext metadata return_url wish_brand wished_at awaits awaits_since recovered_at code_hash code_expires_at | grid_location_id campaign_id locale=nl expected_inverters=2 wish_due_at wish_failed_at opened_at started_at owner_done_at online_at disconnected_at expired_at erased_at declined_at decline_reason=not_mine renewal_requested_at reminders_sent=2 reminded_at reminder_due_at sent_at bounced_at bounced_channel=sms | user_id tenant_reference ean state="erased"
    poll_batches | id:batch_id | claimed_at lease_until | lease_expired=true
    poll_batches | id:batch_id | claimed_at lease_until=tomorrow | lease_expired=false
    read_habits | age seconds | brand | from_seconds="33" known_changes="1"
    registrations | id:registration_id metadata campaign_id lease_token lease_until | attempts=3 last_error=reset created_at updated_at lease_token lease_until next_attempt_at sent_at | being_sent=true
    registrations_open of registrations | id:registration_id metadata campaign_id user_id lease_token lease_until | attempts=3 last_error=reset created_at updated_at next_attempt_at sent_at | age stalled=null
    remote_tokens | token_ciphertext lease_token lease_until credentials_fingerprint probed_at | generation=2 token_ciphertext=x token_type=Bearer expires_in_raw=9 obtained_at renew_at expires_at rejected_at failures=5 last_error=no next_attempt_at lease_until=tomorrow | present=true being_renewed=true
    remote_tokens | token_ciphertext lease_token lease_until credentials_fingerprint probed_at | lease_until | present=false being_renewed=false
    remote_tokens | token_ciphertext lease_token lease_until credentials_fingerprint probed_at | | present=false being_renewed=false
    session_observations | id:observation_id body hash | session_id source=start http_status=404 observed_at | led_to=null finished=null active=null expired=null inverters=null updated_at=null answer=null
    session_starts | id:start_id request lease_token lease_until | grid_location_id brand orphans=1 attempts=3 last_error=reset created_at updated_at lease_until=tomorrow | tenant_reference ean being_sent=true
    session_starts | id:start_id request lease_token lease_until | grid_location_id brand lease_until | tenant_reference ean being_sent=false
    session_starts | id:start_id request lease_token lease_until | grid_location_id brand lease_until=tomorrow status=failed | tenant_reference ean being_sent=false
    session_transitions | id:transition_id | session_id from_state=lost at=yesterday | tenant_reference brand left_at=null
    sessions of onboarding_sessions | id:session_id metadata start_url_ciphertext started_updated_at last_checked_at:checked_at | user_id grid_location_id brand expired=false created_at updated_at expires_at recorded_at state_changed_at changed_at superseded_at closed_at close_reason=lost | tenant_reference ean stalled=null inverters="0" inverters_missing="0" online_at=null next_check_at=null being_read=false phase=null failures=null not_found=null last_error=null failing_since=null
    stalled of stalls | subject:id | user_id grid_location_id tenant_reference brand campaign_id note=call assignee=me since=yesterday raised_at snoozed_until | ean meaning=null waits_for=null urgency=null before=null remedies=null
    tasks | every_ms lease_token | once=deployment started_at ended_at last_error=no due_at | every={"seconds":1}
    tasks | every_ms lease_token due_at | once=deployment lease_token lease_until | every={"seconds":1} due_at=null
    tasks | every_ms lease_token due_at | | every={"seconds":1} due_at=null
    users | id:user_id | first_name=A last_name=B email=C metadata={"a":1} created_at updated_at registered_at | eans=null sessions="0"
    webhook_endpoints | id:endpoint_id url handler headers_ciphertext secret_ciphertext previous_secret_ciphertext lease_token lease_until due_at seen_at is_reported | description=it headers_ciphertext=x previous_secret_ciphertext=x previous_secret_until failures=2 failing_since quiet_until=tomorrow last_delivered_at disabled_at disabled_reason=gone read_to=7 created_at updated_at | origin="https://supplier.example" has_headers=true unread pending="0" oldest_pending_since=null failed="0" last_error=null silent_because`;

  it.each(
    ROWS.trim()
      .split('\n')
      .map((row) => row.split('|').map((part) => part.trim())),
  )('show of %s all but %s, of a row with %s', async (name = '', others = '', given, more) => {
    const [tenant_reference, ean, brand] = [randomUUID(), newEan(), 'acme'];
    const { userId, gridLocationId } = await insertCustomer(client, tenant_reference, ean);
    const whose = { user_id: userId, grid_location_id: gridLocationId, brand };
    const { id } = await insertRow(client, 'onboarding_sessions', whose);
    const ids = { ...whose, session_id: id, tenant_reference, ean, campaign_id: id, lease_token: id };
    const any = { age: ANY, unread: ANY, silent_because: ANY };
    const read = (text = '', parse = (value: string): unknown => value): Values =>
      Object.fromEntries(
        text.match(/\S+/g)?.map((word, nth) => {
          const [column = '', value] = word.split('=');
          const known: Values = { ...ids, ...any };
          return [column, value === undefined ? (known[column] ?? ago(nth)) : parse(value)];
        }) ?? [],
      );
    const [view = '', table = view] = name.split(' of ');
    const row = await insertRow(client, table as Table, read(given));
    const names: Values = Object.fromEntries(others.split(' ').map((other) => other.split(':')));
    const same = Object.entries(row).map(([column, value]) => [
      column in names ? names[column] : column,
      value,
    ]);
    const { undefined: _hidden, ...shown } = Object.fromEntries(same) as Values;
    const { rows } = await client.query(`SELECT * FROM admin.${view}`);
    expect(rows).toContainEqual({ ...shown, ...read(more, JSON.parse) });
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
        '{"startUrl":"https://x/\\"y","a":{"StartURL" : "z"},"b":"startUrl"}',
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
    const closed = { state: 'lost', closed_at: locked, close_reason: 'lost', superseded_at: after(2) };
    const session_id = await insertSession(closed);
    const lost = { session_id, from_state: 'awaiting_owner', to_state: 'lost', at: locked };
    const insert = (table: Table, values: Values) => insertRow<{ id: string }>(client, table, values);
    const seen = {
      session_id,
      http_status: 404,
      observed_at: after(2),
      body: '{"active":true,"inverters":[1,2]}',
    };
    const told = { name: 'session.lost', sequence: 7 };
    const event = await insert('domain_events', { subject: session_id, time: after(3), ...told });
    const { id } = await insert('session_observations', seen);
    // A response long after the end, as a person may request one.
    await insert('session_observations', { session_id, observed_at: after(90_000) });
    await insert('session_transitions', { ...lost, observation_id: id });
    const sent = { status: 'started', attempts: 3, orphans: 1, brand: 'acme', last_error: 'reset' };
    const request = { grid_location_id: place.grid_location_id, session_id, created_at: locked };
    const start = await insert('session_starts', { ...request, updated_at: locked, ...sent });
    const { rows } = await client.query<Values>(
      `SELECT kind, at, step, summary, details - 'ended_at' AS details FROM admin.session_timeline WHERE session_id = $1
        ORDER BY at, step, number`,
      [session_id],
    );
    const flags = { finished: null, active: 'true', expired: null, inverters: 2, updated_at: null };
    const { session_id: _session, at: _at, ...move } = { ...lost, basis: 'observed', rule: 'as_started' };
    const steps: readonly [string, Date, string, Values][] = [
      [
        'start',
        locked,
        'start requested; sent 3 times, 1 of them without a readable response',
        { start_id: start.id, ...sent },
      ],
      [
        'observation',
        after(2),
        'read returned 404: finished=absent active=true expired=absent inverters=2',
        { observation_id: Number(id), source: 'read', http_status: 404, ...flags },
      ],
      [
        'transition',
        after(2),
        'awaiting_owner -> lost (observed, by the rule as_started)',
        { observation_id: Number(id), ...move },
      ],
      ['superseded', after(2), 'a newer session of the same location and brand took its place', {}],
      ['closed', after(2), 'no longer watched: lost', { close_reason: 'lost' }],
      ['event', after(3), 'announced session.lost', { event_id: event.id, ...told }],
    ];
    const nothing = 'read returned 200: finished=absent active=absent expired=absent inverters=absent';
    expect(rows.pop()).toMatchObject({ at: after(90_000), summary: nothing });
    expect(rows).toEqual(
      steps.map(([kind, at, summary, details], nth) => ({ kind, at, step: nth + 1, summary, details })),
    );
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
    const received = await insertRow(client, 'campaigns', { status: 'receiving' });
    await insertRow(client, 'campaign_rows', { campaign_id: received['id'] });
    const { rows } = await client.query(
      `SELECT format('%s', ARRAY[accepted, invalid, registered, known, rejected, uncertain, cancelled]) AS counts FROM admin.campaigns`,
    );
    expect(rows).toEqual([{ counts: '{3,3,4,5,6,7,8}' }]);
  });

  it('count what a webhook endpoint has to get, and show when', async () => {
    const { id: endpoint_id } = await insertRow<{ id: string }>(client, 'webhook_endpoints', {
      read_to: 0,
      quiet_until: ago(1),
    });
    const due_at = ago(-5);
    await insertRow(client, 'webhook_subjects', { endpoint_id, subject: 's', due_at });
    const failed = {
      status: 'failed',
      next_attempt_at: null,
      last_attempt_at: ago(1),
      last_error: 'the last',
    };
    const handler = await insertRow<{ id: string }>(client, 'webhook_endpoints', { read_to: 0, ...HANDLER });
    // None of the first three is an earlier pending delivery of the same endpoint and subject.
    for (const values of [
      failed,
      { subject: 'another', last_attempt_at: null },
      { endpoint_id: handler.id },
      { created_at: BEFORE },
      { last_error: 'an earlier' },
    ]) {
      const { position } = await insertRow<{ position: string }>(client, 'domain_events');
      const delivery = { endpoint_id, subject: 's', position, last_attempt_at: ago(2), ...values };
      await insertRow(client, 'webhook_deliveries', delivery);
    }
    await insertRow(client, 'webhook_subjects', { endpoint_id: handler.id, subject: 's', due_at: ago(-9) });
    const read = async (columns: string, view: string) =>
      (
        await client.query<Values>(`SELECT ${columns} FROM admin.${view} WHERE endpoint_id = $1 ORDER BY 1`, [
          endpoint_id,
        ])
      ).rows;
    expect(
      await read(
        'pending, failed, oldest_pending_since, last_error, quiet_until, has_headers',
        'webhook_endpoints',
      ),
    ).toEqual([
      {
        pending: '3',
        failed: '1',
        oldest_pending_since: BEFORE,
        last_error: 'the last',
        quiet_until: null,
        has_headers: false,
      },
    ]);
    const deliveries = await read('position, subject, status, next_attempt_at', 'webhook_deliveries');
    expect(
      deliveries.map(({ subject, status, next_attempt_at }) => [subject, status, next_attempt_at]),
    ).toEqual([
      ['s', 'failed', null],
      ['another', 'pending', null],
      ['s', 'pending', due_at],
      ['s', 'pending', null],
    ]);
    const shown = 'SELECT FROM admin.webhook_deliveries WHERE endpoint_id = $1';
    expect((await client.query(shown, [handler.id])).rows).toEqual([]);
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
      const text = 'SELECT silent_because, unread FROM admin.webhook_endpoints WHERE endpoint_id = $1';
      const { rows } = await client.query<Values>(text, [id]);
      expect(rows).toEqual([{ silent_because: expect.stringMatching(because), unread: '1' }]);
    });
  });
});

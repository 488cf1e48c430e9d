import type pg from 'pg';
import { insertCustomer, insertRow } from '../valid-rows.js';

/** The session that docs/sql.md follows from start to online. One of its two inverters is missing. */
export const SESSION = '5e551000-0000-4000-8000-000000001042';
/** The session that SESSION superseded. Both have the same customer and brand. */
export const SUPERSEDED = '5e551000-0000-4000-8000-000000001041';
/** A session whose reads fail. It has the customer of SESSION, but another brand. */
export const FAILING = '5e551000-0000-4000-8000-000000001043';
/** A session of another customer, online four hours after its start. */
export const FOUR_HOURS = '5e551000-0000-4000-8000-000000002001';
/** A session of another customer, online ten hours after its start. */
export const TEN_HOURS = '5e551000-0000-4000-8000-000000002002';
/** A session of another customer, started without a brand. */
export const NO_BRAND = '5e551000-0000-4000-8000-000000002003';
/** A session leased by a dead worker, in an inferred state since yesterday. */
export const ABANDONED = '5e551000-0000-4000-8000-000000002004';

export const MISSING_INVERTER = '19e47000-0000-4000-8000-000000000002';
export const KEY = 'a0000000-0000-4000-8000-000000000001';

/** Texts that no view may show. */
export const SECRETS = ['canary-start-url', 'canary-name', 'canary-metadata', 'canary-path', 'canary-answer'];

const MINUTE_MS = 60_000;
const ago = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS);
/** Returns a timestamp literal, which PostgreSQL reads in the connection's time zone. */
const yesterday = (time: string) => `yesterday ${time}`;

interface SessionOf {
  readonly id: string;
  readonly at: { readonly userId: string; readonly gridLocationId: string };
  readonly brand: string | null;
  readonly state: string;
  readonly recordedAt: string | Date;
  readonly values?: Readonly<Record<string, unknown>>;
}

async function insertSession(client: pg.ClientBase, { id, at, brand, state, recordedAt, values }: SessionOf) {
  const isOnline = state === 'online';
  await insertRow(client, 'onboarding_sessions', {
    id,
    user_id: at.userId,
    grid_location_id: at.gridLocationId,
    brand,
    state,
    basis: state === 'awaiting_installation' ? 'inferred' : 'observed',
    finished: isOnline,
    active: !isOnline,
    expired: state === 'expired',
    metadata: { note: 'canary-metadata' },
    recorded_at: recordedAt,
    created_at: recordedAt,
    ...values,
  });
}

async function insertPoll(
  client: pg.ClientBase,
  session: Pick<SessionOf, 'id' | 'at'>,
  values: Readonly<Record<string, unknown>>,
) {
  await insertRow(client, 'session_polls', { session_id: session.id, user_id: session.at.userId, ...values });
}

type Step = readonly [to: string, at: string, rule: string];

/** Inserts an observation, a transition and an event per step. The first observation has a startUrl, which the views must hide. */
async function insertHistory(client: pg.ClientBase, session_id: string, steps: readonly Step[]) {
  let from: string | null = null;
  for (const [to, at, rule] of steps) {
    const flags = { finished: to === 'online', active: to !== 'online', expired: to === 'expired' };
    const response =
      from === null ? { ...flags, startUrl: 'https://x/canary-start-url' } : { ...flags, inverters: [] };
    const observation = await insertRow<{ id: string }>(client, 'session_observations', {
      session_id,
      source: from === null ? 'start' : 'read',
      body: JSON.stringify(response),
      observed_at: at,
    });
    await insertRow(client, 'session_transitions', {
      session_id,
      from_state: from,
      to_state: to,
      basis: to === 'awaiting_installation' ? 'inferred' : 'observed',
      rule,
      observation_id: observation.id,
      at,
    });
    const name = from === null ? 'session.started' : `session.${to}`;
    await insertRow(client, 'domain_events', {
      subject: session_id,
      name,
      time: at,
      data: {
        sessionId: session_id,
        userId: session_id,
        gridLocationId: session_id,
        tenantReference: 'customer-1042',
        brand: null,
        metadata: { note: 'canary-metadata' },
        state: to,
        previousState: from,
        basis: to === 'awaiting_installation' ? 'inferred' : 'observed',
        rule,
        inverters: [],
        invertersTotal: 0,
        observedAt: at,
      },
    });
    from = to;
  }
}

async function insertSessions(client: pg.ClientBase) {
  const customer = await insertCustomer(client, 'customer-1042', '871687400000001042');
  await client.query(
    `UPDATE users SET first_name = 'canary-name', metadata = '"canary-metadata"' WHERE id = $1`,
    [customer.userId],
  );

  const old = {
    id: SUPERSEDED,
    at: customer,
    brand: 'Alpha',
    state: 'expired',
    recordedAt: ago(3 * 24 * 60),
  };
  await insertSession(client, {
    ...old,
    values: { superseded_at: yesterday('10:00'), state_changed_at: ago(2 * 24 * 60) },
  });
  await insertPoll(client, old, { phase: 'late', due_at: ago(-10), claimed_at: ago(5), checked_at: ago(20) });

  const online = {
    id: SESSION,
    at: customer,
    brand: 'Alpha',
    state: 'online',
    recordedAt: yesterday('10:00'),
  };
  await insertSession(client, { ...online, values: { rule: 'finished_with_inverters' } });
  await insertPoll(client, online, {
    phase: 'settling',
    due_at: ago(-10),
    claimed_at: ago(5),
    checked_at: ago(20),
  });
  await insertHistory(client, SESSION, [
    ['awaiting_owner', yesterday('10:00'), 'as_started'],
    ['awaiting_installation', yesterday('10:30'), 'updated_since_start'],
    ['unrecognised', yesterday('11:00'), 'undescribed_flags'],
    ['online', yesterday('12:00'), 'finished_with_inverters'],
  ]);
  await insertRow(client, 'inverters', { session_id: SESSION, first_seen_at: yesterday('12:00') });
  await insertRow(client, 'inverters', {
    session_id: SESSION,
    id: MISSING_INVERTER,
    first_seen_at: yesterday('12:00'),
    last_seen_at: ago(45),
    missing_since: ago(30),
  });

  const failing = { id: FAILING, at: customer, brand: 'Beta', state: 'awaiting_owner', recordedAt: ago(60) };
  await insertSession(client, failing);
  await insertPoll(client, failing, {
    due_at: ago(2),
    claimed_at: ago(30),
    checked_at: ago(30),
    failures: 4,
    last_error: 'no response within 10000 ms',
  });

  const others = [
    [FOUR_HOURS, 'customer-2001', 'Alpha', '14:00'],
    [TEN_HOURS, 'customer-2002', 'Alpha', '20:00'],
    [NO_BRAND, 'customer-2003', null, '11:00'],
  ] as const;
  for (const [id, reference, brand, onlineAt] of others) {
    const at = await insertCustomer(client, reference);
    const closed = { closed_at: ago(1), close_reason: 'settled' };
    await insertSession(client, {
      id,
      at,
      brand,
      state: 'online',
      recordedAt: yesterday('10:00'),
      values: closed,
    });
    await insertHistory(client, id, [
      ['awaiting_owner', yesterday('10:00'), 'as_started'],
      ['online', yesterday(onlineAt), 'finished_with_inverters'],
    ]);
    await insertRow(client, 'inverters', { session_id: id });
  }

  const at = await insertCustomer(client, 'customer-2004');
  const abandoned = {
    id: ABANDONED,
    at,
    brand: 'Gamma',
    state: 'awaiting_installation',
    recordedAt: yesterday('06:00'),
  };
  await insertSession(client, { ...abandoned, values: { rule: 'updated_since_start' } });
  await insertHistory(client, ABANDONED, [
    ['awaiting_owner', yesterday('06:00'), 'as_started'],
    ['awaiting_installation', yesterday('08:00'), 'updated_since_start'],
  ]);
  const dead = { worker: 'host-b:22', size: 1, claimed_at: ago(9), lease_until: ago(8) };
  const { id: batch_id } = await insertRow<{ id: string }>(client, 'poll_batches', dead);
  await insertPoll(client, abandoned, {
    phase: 'awaiting_installation',
    due_at: ago(-5),
    batch_id,
    claimed_at: ago(9),
    checked_at: ago(24),
  });
  await insertRow(client, 'poll_batches', { worker: 'host-a:11', size: 40, claimed_at: ago(0.1) });
  await insertRow(client, 'poll_batches', { worker: 'host-a:11', size: 2, claimed_at: ago(0.05) });
  await insertRow(client, 'read_habits', {});
  await insertStarts(client, customer.gridLocationId);
}

async function insertStarts(client: pg.ClientBase, grid_location_id: string) {
  await insertRow(client, 'session_starts', {
    grid_location_id,
    brand: 'Alpha',
    status: 'started',
    attempts: 2,
    orphans: 1,
    session_id: SESSION,
    created_at: yesterday('09:59:50'),
  });
  await insertRow(client, 'session_starts', {
    grid_location_id,
    brand: 'Gamma',
    status: 'failed',
    last_error: 'rejected with 422: no such brand',
    created_at: ago(5),
  });
}

async function insertRegistrations(client: pg.ClientBase) {
  const registration = (values: Readonly<Record<string, unknown>>) =>
    insertRow(client, 'registrations', values);
  await registration({
    tenant_reference: 'customer-1042',
    status: 'rejected',
    last_error: 'the Solar Curtailment Service refused it with status 400',
    created_at: ago(9_000),
  });
  await registration({
    tenant_reference: 'customer-1042',
    status: 'registered',
    attempts: 1,
    created_at: ago(8_000),
  });
  await registration({
    tenant_reference: 'customer-3001',
    status: 'uncertain',
    attempts: 1,
    last_error: 'the call may have had its effect, but its response was lost',
    sent_at: ago(20),
    created_at: ago(20),
  });
  await registration({
    tenant_reference: 'customer-3002',
    attempts: 7,
    last_error: 'the Solar Curtailment Service cannot be reached',
    next_attempt_at: ago(-2),
    created_at: ago(130),
  });
  await registration({
    tenant_reference: 'customer-3003',
    attempts: 1,
    next_attempt_at: ago(-1),
    created_at: ago(1),
  });
}

async function insertEvents(client: pg.ClientBase) {
  const recent = [
    ['session.online', 5],
    ['inverter.online', 4],
    ['inverter.online', 3],
  ] as const;
  const positions: string[] = [];
  for (const [name, minutes] of recent) {
    const event = { name, subject: NO_BRAND, time: ago(minutes) };
    const { position } = await insertRow<{ position: string }>(client, 'domain_events', event);
    positions.push(position);
  }
  await insertRow(client, 'event_handlers', { name: 'Welcome.send' });
  await insertRow(client, 'event_handlers', { name: 'Crm.update' });
  const pending = { handler: 'Welcome.send', subject: NO_BRAND, created_at: ago(5) };
  await insertRow(client, 'handler_deliveries', {
    ...pending,
    position: positions[0],
    attempts: 3,
    last_error: 'no mail server',
  });
  await insertRow(client, 'handler_deliveries', { ...pending, position: positions[1] });
  await insertWebhooks(client, positions);
}

async function insertWebhooks(client: pg.ClientBase, positions: readonly string[]) {
  const { id: endpoint_id } = await insertRow<{ id: string }>(client, 'webhook_endpoints', {
    description: 'customer app',
    url: 'https://app.example/canary-path?token=canary-path',
    headers_ciphertext: Buffer.from('canary-headers'),
    failures: 12,
    failing_since: ago(50),
  });
  const delivery = { endpoint_id, subject: NO_BRAND };
  const failing = { attempts: 3, last_attempt_at: ago(2), last_status: 401, next_attempt_at: ago(-30) };
  await insertRow(client, 'webhook_subjects', { ...delivery, due_at: ago(-30) });
  const quoted = { last_error: 'responded with 401', last_answer: 'canary-answer' };
  await insertRow(client, 'webhook_deliveries', {
    ...delivery,
    position: positions[0],
    ...failing,
    ...quoted,
  });
  await insertRow(client, 'webhook_deliveries', { ...delivery, position: positions[1] });
  const done = { status: 'delivered', attempts: 1, last_status: 204, next_attempt_at: null };
  await insertRow(client, 'webhook_deliveries', { ...delivery, position: positions[2], ...done });
}

async function insertAccess(client: pg.ClientBase) {
  await insertRow(client, 'api_keys', { id: KEY, name: 'crm', last_used_at: ago(2) });
  await insertRow(client, 'api_keys', { name: 'unused' });
  await insertRow(client, 'api_keys', {
    name: 'old app',
    revoked_at: ago(100),
    refused_401: 7,
    last_refused_at: ago(1),
  });
  const target = '3e915000-0000-4000-8000-000000000001';
  await insertRow(client, 'audit_log', { action: 'api_key.created', at: ago(20 * 24 * 60) });
  await insertRow(client, 'audit_log', { action: 'api_key.revoked', at: ago(100) });
  await insertRow(client, 'audit_log', {
    actor: `key:${KEY}`,
    action: 'registration.retried',
    target,
    details: { decision: 'retry', status: 'uncertain' },
    at: ago(10),
  });
  await insertRow(client, 'remote_tokens', {
    name: 'tenant',
    generation: 3,
    token_ciphertext: Buffer.from('ciphertext'),
    obtained_at: ago(60),
    renew_at: ago(-60),
    expires_at: ago(-120),
    rejected_at: ago(1),
    failures: 2,
    last_error: 'the service refused a fresh token',
  });
}

async function insertRemoteState(client: pg.ClientBase) {
  const quiet = (operation: string, until: Date) =>
    client.query('UPDATE remote_operations SET quiet_until = $2 WHERE operation = $1', [operation, until]);
  await quiet('start_session', ago(-10));
  await quiet('read_session', ago(10));
  await client.query(
    `UPDATE remote_operations SET health = 'degraded', reason = 'status 503', since = $1
    WHERE operation = 'start_session'`,
    [ago(3)],
  );
  const serialNumber = { field: 'inverters[].serialNumber', found: 'string', first_seen_at: ago(5) };
  await insertRow(client, 'remote_drift', serialNumber);
  const expired = { field: 'expired', expected: 'boolean', found: 'string', first_seen_at: ago(500) };
  await insertRow(client, 'remote_drift', { kind: 'other_type', ...expired });
}

export async function insertStory(client: pg.ClientBase): Promise<void> {
  await insertSessions(client);
  await insertRegistrations(client);
  await insertEvents(client);
  await insertAccess(client);
  await insertRemoteState(client);
}

import { hash, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { newEan } from '../setup/ean.js';

type Values = Readonly<Record<string, unknown>>;

/** Unlike PostgreSQL's 'tomorrow', which is midnight, this time does not come during a test. */
export const tomorrow = (): Date => new Date(Date.now() + 86_400_000);

/** The minimal valid row of each table. The caller adds the foreign keys. */
const VALID = {
  users: () => ({
    id: randomUUID(),
    tenant_reference: randomUUID(),
    tenant_name: 'Supplier',
    first_name: '',
    last_name: '',
    email: '',
    metadata: {},
    created_at: 'now',
    updated_at: 'now',
  }),
  grid_locations: () => ({ id: randomUUID(), ean: newEan() }),
  registrations: () => ({ tenant_reference: randomUUID(), eans: [newEan()], metadata: {} }),
  session_starts: () => ({ lease_token: randomUUID(), lease_until: 'now' }),
  onboarding_sessions: () => ({
    id: randomUUID(),
    metadata: {},
    state: 'awaiting_owner',
    basis: 'observed',
    rule: 'as_started',
    finished: false,
    active: true,
    created_at: 'now',
    updated_at: 'now',
    expires_at: tomorrow(),
    started_updated_at: 'now',
    state_changed_at: 'now',
    last_checked_at: 'now',
  }),
  session_polls: () => ({
    due_at: 'now',
    claimed_at: 'now',
    checked_at: 'now',
    phase: 'awaiting_owner',
    anchor_at: 'now',
  }),
  tasks: () => ({ name: randomUUID(), once: 'process', every_ms: 1_000 }),
  poll_batches: () => ({ worker: 'host:1', size: 1, lease_until: tomorrow() }),
  stalls: () => ({ kind: 'session', subject: randomUUID(), cause: 'lost', since: 'now', evidence: {} }),
  stall_looks: () => ({ kind: 'session', subject: randomUUID() }),
  stall_counts: () => ({ kind: 'session', cause: 'lost', hour: 'now', difference: 1 }),
  stall_causes: () => ({
    kind: 'session',
    cause: randomUUID(),
    waits_for: 'tenant',
    urgency: 'now',
    meaning: 'It is lost.',
    remedies: [],
  }),
  bulk_actions: () => ({
    operation_id: 'refreshSession',
    arguments: {},
    reason: 'Because.',
    actor: 'environment',
    caller_name: 'environment',
  }),
  bulk_action_items: () => ({ ordinal: 1, target: randomUUID() }),
  invitations: () => ({
    token_hash: randomBytes(32),
    token_ciphertext: Buffer.alloc(64),
    brands: [],
    metadata: {},
    expires_at: tomorrow(),
  }),
  consent_texts: () => ({ hash: randomUUID(), version: '1', locale: 'en', text: 'I agree.' }),
  consents: () => ({}),
  session_observations: () => ({ source: 'read', http_status: 200, hash: Buffer.alloc(20) }),
  session_transitions: () => ({
    from_state: null,
    to_state: 'awaiting_owner',
    basis: 'observed',
    rule: 'as_started',
  }),
  inverters: () => ({ id: randomUUID(), first_seen_at: 'now', last_seen_at: 'now' }),
  campaigns: () => ({ invites: false, format: {} }),
  campaign_rows: () => ({ line: 2, status: 'invalid' }),
  pruned_sessions: () => ({ session_id: randomUUID(), user_id: randomUUID() }),
  erasures: () => ({
    erased_at: 'now',
    grid_locations: 0,
    registrations: 0,
    sessions: 0,
    observations: 0,
    inverters: 0,
    consents: 0,
    events: 0,
    reference_hash: Buffer.alloc(41),
  }),
  domain_events: () => ({ id: randomUUID(), name: 'session.online', subject: randomUUID(), data: {} }),
  webhook_endpoints: () => ({
    url: 'https://supplier.example/hooks',
    types: [],
    secret_ciphertext: Buffer.alloc(64),
    read_to: 0,
    created_by: 'cli',
  }),
  webhook_deliveries: () => ({ subject: randomUUID() }),
  webhook_subjects: () => ({ subject: randomUUID() }),
  broker_positions: () => ({ name: randomUUID() }),
  api_keys: () => ({
    name: 'app',
    scopes: ['users:read'],
    key_hash: Buffer.from(randomUUID().replaceAll('-', '').repeat(2), 'hex'),
    created_by: 'cli',
  }),
  idempotency_keys: () => ({
    id: hash('sha256', randomUUID(), 'base64url'),
    response_ciphertext: Buffer.alloc(8),
  }),
  remote_tokens: () => ({ name: randomUUID() }),
  read_budget: () => ({ id: true }),
  request_tokens: () => ({ id: true }),
  read_habits: () => ({ brand: 'acme', phase: 'late', age: 7, changed: 1, ended: 2, seconds: 3 }),
  brand_waits: () => ({ brand: 'acme', p50_seconds: 60, p95_seconds: 600, known: 20 }),
  brand_outages: () => ({ brand: 'acme', since: new Date(), failing: 5, read: 0 }),
  deployment: () => ({ home: 'here' }),
  restores: () => ({ last_sequence: 0, first_sequence: 1 }),
  remote_operations: () => ({ operation: 'read_session' }),
  remote_replicas: () => ({
    id: randomUUID(),
    name: 'host:1',
    expires_at: tomorrow(),
    role: 'api',
    clock_offset_seconds: 0,
    signs: {},
  }),
  status_samples: () => ({ at: 'now', reasons: {}, figures: {} }),
  remote_drift: () => ({ operation: 'read_session', kind: 'new_field', field: 'phase', found: 'string' }),
  audit_log: () => ({ actor: 'cli', action: 'api_key.created', details: {} }),
} satisfies Record<string, () => Values>;

export type Table = keyof typeof VALID;

/** Values of an endpoint that make it a handler. */
export const HANDLER = {
  handler: 'A.handler',
  url: null,
  secret_ciphertext: null,
  seen_at: 'now',
  types: ['session.online'],
};

/** The times of two rows, which are stored in whole milliseconds, have the order in which the rows are inserted. */
export async function insertRow<Row extends Values = Values>(
  client: pg.ClientBase | pg.Pool,
  table: Table,
  values: Values = {},
): Promise<Row> {
  const row: Values = { ...VALID[table](), ...values };
  const columns = Object.keys(row).map((name) => `"${name}"`);
  const places = columns.map((_, i) => `$${i + 1}`);
  const { rows } = await client.query<Row>(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places.join(', ')}) RETURNING *`,
    Object.values(row),
  );
  await sleep(2);
  return rows[0]!;
}

export async function insertCustomer(
  client: pg.ClientBase | pg.Pool,
  tenantReference: string = randomUUID(),
  ean: string = newEan(),
): Promise<{ userId: string; gridLocationId: string }> {
  const user = await insertRow<{ id: string }>(client, 'users', { tenant_reference: tenantReference });
  const location = await insertRow<{ id: string }>(client, 'grid_locations', { user_id: user.id, ean });
  return { userId: user.id, gridLocationId: location.id };
}

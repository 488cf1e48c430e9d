import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../setup/test-database.js';
import { insertCustomer, insertRow, type Table } from './valid-rows.js';

type Values = Readonly<Record<string, unknown>>;

/** Ids of rows that exist before each case. */
interface Ground {
  readonly user_id: string;
  readonly grid_location_id: string;
  readonly session_id: string;
  readonly delivery: { readonly endpoint_id: string; readonly position: string };
  readonly another_position: string;
}

interface Case {
  readonly constraint: string;
  readonly table: Table;
  readonly refuses: string;
  /** Rows that the test inserts into the table before `refused`. */
  readonly beside?: readonly ((ground: Ground) => Values)[];
  readonly refused: (ground: Ground) => Values;
  /** A row that the constraint accepts. It differs from `refused` as little as possible. */
  readonly taken: (ground: Ground) => Values;
}

const EAN = '871687400000000017';
const later = '2026-12-01T00:00:00Z';
const place = ({ user_id, grid_location_id }: Ground) => ({ user_id, grid_location_id });
const session = ({ session_id }: Ground) => ({ session_id });
const lease = { lease_token: randomUUID(), lease_until: later };
const token = { token_ciphertext: Buffer.alloc(8), obtained_at: later, renew_at: later, expires_at: later };

const eanCases: readonly Case[] = [
  ['of 17 digits', EAN.slice(1)],
  ['of 19 digits', `${EAN}1`],
  ['with a line end', `${EAN}\n`],
  ['with full-width digits', EAN.replace('8', '\uff18')],
  ['with a letter', EAN.replace('8', 'O')],
].map(([what, ean]) => ({
  constraint: 'grid_locations_ean_is_18_digits',
  table: 'grid_locations',
  refuses: `an EAN ${what}`,
  refused: ({ user_id }) => ({ user_id, ean }),
  taken: ({ user_id }) => ({ user_id, ean: EAN }),
}));

const eansCases: readonly Case[] = [
  ['null instead of EANs', null],
  ['an empty list of EANs', []],
  ['a short EAN among others', [EAN, EAN.slice(1)]],
  ['a null among EANs', [EAN, null]],
  ['two EANs in one element', [`${EAN},${EAN}`]],
].map(([refuses, eans]) => ({
  constraint: 'registrations_eans_are_18_digits',
  table: 'registrations',
  refuses: refuses as string,
  refused: () => ({ eans }),
  taken: () => ({ eans: [EAN, EAN] }),
}));

const liveCases: readonly Case[] = ['pending', 'registered', 'uncertain'].map((status) => ({
  constraint: 'registrations_one_per_reference',
  table: 'registrations',
  refuses: `a reference that has a registration with the status ${status}`,
  beside: [() => ({ tenant_reference: 'a', status }), () => ({ tenant_reference: 'a', status: 'rejected' })],
  refused: () => ({ tenant_reference: 'a' }),
  taken: () => ({ tenant_reference: 'a', status: 'discarded' }),
}));

const erased = { erased_at: later, tenant_reference: null, tenant_name: '' };

const erasedCases: readonly Case[] = [
  ['an erased user with a reference', { ...erased, tenant_reference: 'a' }],
  ['an erased user with a name', { ...erased, last_name: 'Jansen' }],
  ['an erased user with metadata', { ...erased, metadata: { note: 'moved' } }],
  ['a user without a reference who is not erased', { tenant_reference: null }],
].map(([refuses, values]) => ({
  constraint: 'users_erased_is_empty',
  table: 'users',
  refuses: refuses as string,
  refused: () => values as Values,
  taken: () => erased,
}));

const timeCases: readonly Case[] = [
  ...['created_at', 'updated_at'].map((column) => ({ table: 'users' as const, column, place: () => ({}) })),
  ...['created_at', 'updated_at', 'expires_at', 'started_updated_at'].map((column) => ({
    table: 'onboarding_sessions' as const,
    column,
    place,
  })),
].flatMap(({ table, column, place: where }) =>
  [
    ['0001-01-01 00:00:00+02', '0001-01-01 00:00:00+00'],
    ['9999-12-31 23:59:59-12:00', '9999-12-31 23:59:59.999+00'],
    ['infinity', later],
  ].map(([outside, inside]): Case => ({
    constraint: `${table}_times_exist`,
    table,
    refuses: `${column} ${outside}`,
    refused: (ground) => ({ ...where(ground), [column]: outside }),
    taken: (ground) => ({ ...where(ground), [column]: inside }),
  })),
);

const CASES: readonly Case[] = [
  ...timeCases,
  {
    constraint: 'remote_operations_operation_is_known',
    table: 'remote_operations',
    refuses: 'an unknown operation',
    refused: () => ({ operation: 'curtail' }),
    taken: () => ({ operation: 'start_session' }),
  },
  {
    constraint: 'remote_replicas_role_is_known',
    table: 'remote_replicas',
    refuses: 'an unknown role',
    refused: () => ({ role: 'boss' }),
    taken: () => ({ role: 'worker' }),
  },
  {
    constraint: 'remote_replicas_share_is_a_part',
    table: 'remote_replicas',
    refuses: 'a share above 1',
    refused: () => ({ share: 1.5 }),
    taken: () => ({ share: 1 }),
  },
  {
    constraint: 'remote_operations_health_is_known',
    table: 'remote_operations',
    refuses: 'credentials rejected by one operation alone',
    refused: () => ({ health: 'credentials_rejected', reason: 'refused' }),
    taken: () => ({ operation: 'token', health: 'credentials_rejected', reason: 'refused' }),
  },
  {
    constraint: 'remote_operations_trouble_has_reason',
    table: 'remote_operations',
    refuses: 'trouble without a reason',
    refused: () => ({ health: 'degraded' }),
    taken: () => ({ health: 'degraded', reason: 'status 500', trouble_until: later }),
  },
  {
    constraint: 'remote_operations_trouble_has_reason',
    table: 'remote_operations',
    refuses: 'trouble while healthy',
    refused: () => ({ trouble_until: later }),
    taken: () => ({ quiet_until: later }),
  },
  {
    constraint: 'remote_drift_kind_is_known',
    table: 'remote_drift',
    refuses: 'an unknown kind',
    refused: () => ({ kind: 'other' }),
    taken: () => ({ kind: 'token_form' }),
  },
  {
    constraint: 'remote_drift_operation_is_known',
    table: 'remote_drift',
    refuses: 'an unknown operation',
    refused: () => ({ operation: 'curtail' }),
    taken: () => ({ operation: 'token' }),
  },
  ...erasedCases,
  {
    constraint: 'onboarding_sessions_erased_is_empty',
    table: 'onboarding_sessions',
    refuses: 'metadata of an erased session',
    refused: (ground) => ({ ...place(ground), closed_at: later, close_reason: 'erased', metadata: { a: 1 } }),
    taken: (ground) => ({ ...place(ground), closed_at: later, close_reason: 'erased' }),
  },
  {
    constraint: 'erasures_user_id_key',
    table: 'erasures',
    refuses: 'two receipts of one user',
    beside: [({ user_id }) => ({ user_id }), () => ({ user_id: null })],
    refused: ({ user_id }) => ({ user_id }),
    taken: () => ({ user_id: null }),
  },
  {
    constraint: 'users_tenant_reference_key',
    table: 'users',
    refuses: 'a second user of the same reference',
    beside: [() => ({ tenant_reference: 'a' })],
    refused: () => ({ tenant_reference: 'a' }),
    taken: () => ({ tenant_reference: 'A' }),
  },
  {
    constraint: 'grid_locations_user_id_ean_key',
    table: 'grid_locations',
    refuses: 'the same EAN twice for one user',
    beside: [({ user_id }) => ({ user_id, ean: EAN })],
    refused: ({ user_id }) => ({ user_id, ean: EAN }),
    taken: ({ user_id }) => ({ user_id, ean: EAN.replace('8', '9') }),
  },
  ...eanCases,
  ...eansCases,
  {
    constraint: 'registrations_status_is_known',
    table: 'registrations',
    refuses: 'an unknown status',
    refused: () => ({ status: 'sent' }),
    taken: () => ({ status: 'uncertain' }),
  },
  {
    constraint: 'registrations_user_only_when_registered',
    table: 'registrations',
    refuses: 'a user of one that is not registered',
    refused: ({ user_id }) => ({ status: 'uncertain', user_id }),
    taken: ({ user_id }) => ({ status: 'registered', user_id }),
  },
  {
    constraint: 'registrations_lease_only_while_pending',
    table: 'registrations',
    refuses: 'a lease of one that will not be sent',
    refused: () => ({ status: 'uncertain', ...lease }),
    taken: () => ({ status: 'pending', ...lease }),
  },
  {
    constraint: 'registrations_lease_only_while_pending',
    table: 'registrations',
    refuses: 'a lease without an end',
    refused: () => ({ lease_token: lease.lease_token }),
    taken: () => ({}),
  },
  {
    constraint: 'registrations_lease_only_while_pending',
    table: 'registrations',
    refuses: 'a next attempt of one that will not be sent',
    refused: () => ({ status: 'rejected', next_attempt_at: later }),
    taken: () => ({ status: 'pending', next_attempt_at: later }),
  },
  ...liveCases,
  {
    constraint: 'session_starts_status_is_known',
    table: 'session_starts',
    refuses: 'an unknown status',
    refused: (ground) => ({ grid_location_id: ground.grid_location_id, status: 'pending' }),
    taken: (ground) => ({ grid_location_id: ground.grid_location_id, status: 'failed' }),
  },
  {
    constraint: 'session_starts_started_has_session',
    table: 'session_starts',
    refuses: 'a started one without a session',
    refused: (ground) => ({ grid_location_id: ground.grid_location_id, status: 'started' }),
    taken: (ground) => ({
      grid_location_id: ground.grid_location_id,
      status: 'started',
      session_id: ground.session_id,
    }),
  },
  {
    constraint: 'session_starts_started_has_session',
    table: 'session_starts',
    refuses: 'a failed one with a session',
    refused: (ground) => ({
      grid_location_id: ground.grid_location_id,
      status: 'failed',
      session_id: ground.session_id,
    }),
    taken: (ground) => ({ grid_location_id: ground.grid_location_id, status: 'failed' }),
  },
  {
    constraint: 'session_starts_one_in_flight',
    table: 'session_starts',
    refuses: 'two starts in flight for a location and brand',
    beside: [(ground) => ({ grid_location_id: ground.grid_location_id, brand: 'Alpha' })],
    refused: (ground) => ({ grid_location_id: ground.grid_location_id, brand: 'Alpha' }),
    taken: (ground) => ({ grid_location_id: ground.grid_location_id, brand: 'Beta' }),
  },
  {
    constraint: 'session_starts_one_in_flight',
    table: 'session_starts',
    refuses: 'two starts in flight for a location without a brand',
    beside: [(ground) => ({ grid_location_id: ground.grid_location_id, brand: null })],
    refused: (ground) => ({ grid_location_id: ground.grid_location_id, brand: null }),
    taken: (ground) => ({ grid_location_id: ground.grid_location_id, brand: null, status: 'failed' }),
  },
  {
    constraint: 'onboarding_sessions_state_is_known',
    table: 'onboarding_sessions',
    refuses: 'an unknown state',
    refused: (ground) => ({ ...place(ground), state: 'finished' }),
    taken: (ground) => ({ ...place(ground), state: 'unrecognised' }),
  },
  {
    constraint: 'onboarding_sessions_basis_follows_state',
    table: 'onboarding_sessions',
    refuses: 'awaiting_installation as if it were observed',
    refused: (ground) => ({ ...place(ground), state: 'awaiting_installation', basis: 'observed' }),
    taken: (ground) => ({ ...place(ground), state: 'awaiting_installation', basis: 'inferred' }),
  },
  {
    constraint: 'onboarding_sessions_basis_follows_state',
    table: 'onboarding_sessions',
    refuses: 'online as if it were inferred',
    refused: (ground) => ({ ...place(ground), state: 'online', basis: 'inferred' }),
    taken: (ground) => ({ ...place(ground), state: 'online', basis: 'observed' }),
  },
  {
    constraint: 'onboarding_sessions_close_has_reason',
    table: 'onboarding_sessions',
    refuses: 'an end without a reason',
    refused: (ground) => ({ ...place(ground), closed_at: later }),
    taken: (ground) => ({ ...place(ground), closed_at: later, close_reason: 'lost' }),
  },
  {
    constraint: 'onboarding_sessions_close_has_reason',
    table: 'onboarding_sessions',
    refuses: 'an unknown reason',
    refused: (ground) => ({ ...place(ground), closed_at: later, close_reason: 'finished' }),
    taken: (ground) => ({ ...place(ground), closed_at: later, close_reason: 'settled' }),
  },
  {
    constraint: 'onboarding_sessions_start_url_only_while_open',
    table: 'onboarding_sessions',
    refuses: 'a startUrl once it is online',
    refused: (ground) => ({ ...place(ground), state: 'online', start_url_ciphertext: Buffer.alloc(8) }),
    taken: (ground) => ({ ...place(ground), start_url_ciphertext: Buffer.alloc(8) }),
  },
  {
    constraint: 'onboarding_sessions_start_url_only_while_open',
    table: 'onboarding_sessions',
    refuses: 'a startUrl once it is closed',
    refused: (ground) => ({
      ...place(ground),
      closed_at: later,
      close_reason: 'late_window_over',
      start_url_ciphertext: Buffer.alloc(8),
    }),
    taken: (ground) => ({ ...place(ground), closed_at: later, close_reason: 'late_window_over' }),
  },
  {
    constraint: 'onboarding_sessions_one_current',
    table: 'onboarding_sessions',
    refuses: 'two current sessions of a location and brand',
    beside: [(ground) => ({ ...place(ground), brand: 'Alpha' })],
    refused: (ground) => ({ ...place(ground), brand: 'Alpha' }),
    taken: (ground) => ({ ...place(ground), brand: 'Alpha', superseded_at: later }),
  },
  {
    constraint: 'onboarding_sessions_one_current',
    table: 'onboarding_sessions',
    refuses: 'two current sessions of a location without a brand',
    beside: [(ground) => ({ ...place(ground), brand: null })],
    refused: (ground) => ({ ...place(ground), brand: null }),
    taken: (ground) => ({ ...place(ground), brand: 'Alpha' }),
  },
  {
    constraint: 'session_polls_phase_is_known',
    table: 'session_polls',
    refuses: 'an unknown phase',
    refused: (ground) => ({ session_id: ground.session_id, user_id: ground.user_id, phase: 'online' }),
    taken: (ground) => ({ session_id: ground.session_id, user_id: ground.user_id, phase: 'settling' }),
  },
  {
    constraint: 'session_transitions_move',
    table: 'session_transitions',
    refuses: 'a transition to the state it leaves',
    refused: (ground) => ({ ...session(ground), from_state: 'online', to_state: 'online' }),
    taken: (ground) => ({ ...session(ground), from_state: 'expired', to_state: 'online' }),
  },
  {
    constraint: 'session_transitions_states_are_known',
    table: 'session_transitions',
    refuses: 'an unknown state',
    refused: (ground) => ({ ...session(ground), to_state: 'finished' }),
    taken: (ground) => ({ ...session(ground), to_state: 'lost' }),
  },
  {
    constraint: 'session_transitions_basis_follows_state',
    table: 'session_transitions',
    refuses: 'an inferred online',
    refused: (ground) => ({ ...session(ground), to_state: 'online', basis: 'inferred' }),
    taken: (ground) => ({ ...session(ground), to_state: 'awaiting_installation', basis: 'inferred' }),
  },
  {
    constraint: 'domain_events_position_key',
    table: 'domain_events',
    refuses: 'a position twice',
    beside: [() => ({ position: 7 })],
    refused: () => ({ position: 7 }),
    taken: () => ({ position: 8 }),
  },
  {
    constraint: 'domain_events_sequence_key',
    table: 'domain_events',
    refuses: 'a sequence twice',
    beside: [() => ({ sequence: 7 }), () => ({ sequence: null })],
    refused: () => ({ sequence: 7 }),
    taken: () => ({ sequence: null }),
  },
  {
    constraint: 'api_keys_key_hash_key',
    table: 'api_keys',
    refuses: 'a key twice',
    beside: [() => ({ key_hash: Buffer.alloc(32, 1) })],
    refused: () => ({ key_hash: Buffer.alloc(32, 1) }),
    taken: () => ({ key_hash: Buffer.alloc(32, 2) }),
  },
  {
    constraint: 'api_keys_hash_is_sha256',
    table: 'api_keys',
    refuses: 'a hash of 31 bytes',
    refused: () => ({ key_hash: Buffer.alloc(31) }),
    taken: () => ({ key_hash: Buffer.alloc(32) }),
  },
  {
    constraint: 'idempotency_keys_id_is_sha256',
    table: 'idempotency_keys',
    refuses: 'a key that is not hashed',
    refused: () => ({ id: 'order-of-jansen' }),
    taken: () => ({ id: 'A'.repeat(43) }),
  },
  ...[
    ['an unknown scope', ['users:read', 'users:delete']],
    ['a null among scopes', ['users:read', null]],
    ['null instead of scopes', null],
  ].map(([refuses, scopes]): Case => ({
    constraint: 'api_keys_scopes_are_known',
    table: 'api_keys',
    refuses: refuses as string,
    refused: () => ({ scopes }),
    taken: () => ({ scopes: ['users:read', 'admin'] }),
  })),
  ...['obtained_at', 'renew_at', 'expires_at'].map((column): Case => ({
    constraint: 'remote_tokens_token_has_times',
    table: 'remote_tokens',
    refuses: `a token without ${column}`,
    refused: () => ({ ...token, [column]: null }),
    taken: () => token,
  })),
  {
    constraint: 'deployment_is_one_row',
    table: 'deployment',
    refuses: 'a second home',
    refused: () => ({ is_only: false }),
    taken: () => ({ is_only: true }),
  },
  {
    constraint: 'read_price_is_one_row',
    table: 'read_price',
    refuses: 'a second price',
    refused: () => ({ id: false }),
    taken: () => ({ id: true }),
  },
  {
    constraint: 'read_price_stretch_is_at_least_1',
    table: 'read_price',
    refuses: 'intervals shorter than planned',
    refused: () => ({ stretch: 0.9 }),
    taken: () => ({ stretch: 1 }),
  },
  {
    constraint: 'read_habits_phase_is_learned',
    table: 'read_habits',
    refuses: 'a phase that is not learned',
    refused: () => ({ phase: 'settling' }),
    taken: () => ({ phase: 'awaiting_owner' }),
  },
  {
    constraint: 'read_habits_counts_fit',
    table: 'read_habits',
    refuses: 'more changes than ends',
    refused: () => ({ changed: 3, ended: 2 }),
    taken: () => ({ changed: 2, ended: 2 }),
  },
  {
    constraint: 'broker_positions_read_to_is_a_place',
    table: 'broker_positions',
    refuses: 'a place before the first event',
    refused: () => ({ read_to: -1 }),
    taken: () => ({ read_to: 0 }),
  },
  ...['lease_token', 'lease_until'].map((column): Case => ({
    constraint: 'broker_positions_lease_ends',
    table: 'broker_positions',
    refuses: `a lease without ${column}`,
    refused: () => ({ ...lease, [column]: null }),
    taken: () => lease,
  })),
  ...['failing_since', 'last_error'].map((column): Case => ({
    constraint: 'broker_positions_failing_has_reason',
    table: 'broker_positions',
    refuses: `failing without ${column}`,
    refused: () => ({ failing_since: later, last_error: 'cannot be reached', [column]: null }),
    taken: () => ({ failing_since: later, last_error: 'cannot be reached' }),
  })),
  {
    constraint: 'broker_positions_warnings_is_a_list',
    table: 'broker_positions',
    refuses: 'null instead of warnings',
    refused: () => ({ warnings: null }),
    taken: () => ({ warnings: [] }),
  },
  {
    constraint: 'webhook_endpoints_types_are_names',
    table: 'webhook_endpoints',
    refuses: 'null among the types',
    refused: () => ({ types: ['session.online', null] }),
    taken: () => ({ types: ['session.online'] }),
  },
  {
    constraint: 'webhook_endpoints_previous_secret_ends',
    table: 'webhook_endpoints',
    refuses: 'a previous secret without an end',
    refused: () => ({ previous_secret_ciphertext: Buffer.alloc(64) }),
    taken: () => ({ previous_secret_ciphertext: Buffer.alloc(64), previous_secret_until: 'tomorrow' }),
  },
  ...[
    ['a disabled endpoint without a reason', { disabled_at: 'now' }],
    ['an enabled endpoint with a reason', { disabled_reason: 'gone' }],
    ['an unknown reason', { disabled_at: 'now', disabled_reason: 'tired' }],
  ].map(([refuses, values]): Case => ({
    constraint: 'webhook_endpoints_disabled_has_reason',
    table: 'webhook_endpoints',
    refuses: refuses as string,
    refused: () => values as Record<string, unknown>,
    taken: () => ({ disabled_at: 'now', disabled_reason: 'gone' }),
  })),
  {
    constraint: 'webhook_endpoints_failing_since_first_failure',
    table: 'webhook_endpoints',
    refuses: 'failures without the time of the first',
    refused: () => ({ failures: 1 }),
    taken: () => ({ failures: 1, failing_since: 'now' }),
  },
  {
    constraint: 'webhook_deliveries_status_is_known',
    table: 'webhook_deliveries',
    refuses: 'an unknown status',
    refused: ({ delivery }) => ({ ...delivery, status: 'sent', next_attempt_at: null }),
    taken: ({ delivery }) => ({ ...delivery, status: 'delivered', next_attempt_at: null }),
  },
  ...[
    ['a pending delivery without a next attempt', { next_attempt_at: null }],
    ['a delivered one with a next attempt', { status: 'delivered' }],
  ].map(([refuses, values]): Case => ({
    constraint: 'webhook_deliveries_only_pending_has_next_attempt',
    table: 'webhook_deliveries',
    refuses: refuses as string,
    refused: ({ delivery }) => ({ ...delivery, ...(values as object) }),
    taken: ({ delivery }) => delivery,
  })),
  {
    constraint: 'webhook_deliveries_endpoint_id_position_key',
    table: 'webhook_deliveries',
    refuses: 'the same event to the same endpoint twice',
    beside: [({ delivery }) => delivery],
    refused: ({ delivery }) => delivery,
    taken: ({ delivery, another_position }) => ({ ...delivery, position: another_position }),
  },
];

const CHECKS_AND_UNIQUE_INDEXES = `
  SELECT conname AS name FROM pg_constraint
   WHERE contype = 'c' AND connamespace = 'public'::regnamespace
   UNION
  SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
   WHERE indisunique AND NOT indisprimary AND relnamespace = 'public'::regnamespace
   ORDER BY name`;

describe('constraints', () => {
  let database: TestDatabase;
  let client: pg.Client;
  let ground: Ground;

  beforeAll(async () => {
    database = await createTestDatabase();
    client = await database.connect();
  });
  afterAll(() => database.drop());

  beforeEach(async () => {
    await client.query('BEGIN');
    // Deletes the rows that the migration inserted, so that a case can insert its own.
    await client.query('DELETE FROM remote_operations; DELETE FROM read_price');
    const { userId, gridLocationId } = await insertCustomer(client);
    // A session with a brand that no case uses, because a location has one open session per brand.
    const { id } = await insertRow<{ id: string }>(client, 'onboarding_sessions', {
      user_id: userId,
      grid_location_id: gridLocationId,
      brand: 'ground',
    });
    const endpoint = await insertRow<{ id: string }>(client, 'webhook_endpoints');
    const event = await insertRow<{ position: string }>(client, 'domain_events');
    const another = await insertRow<{ position: string }>(client, 'domain_events');
    ground = {
      user_id: userId,
      grid_location_id: gridLocationId,
      session_id: id,
      delivery: { endpoint_id: endpoint.id, position: event.position },
      another_position: another.position,
    };
  });
  afterEach(() => client.query('ROLLBACK'));

  it.each(CASES)(
    '$constraint refuses $refuses',
    async ({ constraint, table, beside = [], refused, taken }) => {
      for (const row of beside) await insertRow(client, table, row(ground));
      await client.query('SAVEPOINT before');
      await expect(insertRow(client, table, refused(ground))).rejects.toMatchObject({ constraint });
      await client.query('ROLLBACK TO before');
      await expect(insertRow(client, table, taken(ground))).resolves.toBeDefined();
    },
  );

  it('all have a case here', async () => {
    const { rows } = await client.query<{ name: string }>(CHECKS_AND_UNIQUE_INDEXES);
    expect(rows.map((row) => row.name)).toEqual([...new Set(CASES.map((each) => each.constraint))].sort());
  });
});

import { randomUUID } from 'node:crypto';
import type { Database } from '../../../../src/platform/database/database.js';
import type { TestClient } from '../../../setup/client.js';
import { newEan } from '../../../setup/ean.js';

/** Returns numbers from 0 to 1 that depend on the seed alone (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface World {
  readonly client: TestClient;
  readonly database: Database;
}

/** A customer with an endpoint of its own. */
export interface History {
  readonly reference: string;
  readonly location: string;
  readonly userId: string;
  readonly endpoint: string;
  readonly random: () => number;
}

export async function beginHistory({ client }: World, seed: number): Promise<History> {
  const random = randomOf(seed);
  const reference = `history-${seed}`;
  const location = await client.locate(reference);
  const user = await client.list<{ id: string }>(`/users?tenantReference=${reference}`);
  const { body } = await client.call<{ id: string }>('POST', '/webhook-endpoints', {
    url: 'http://127.0.0.1:9/hooks',
  });
  await client.start(location);
  return { reference, location, userId: user[0]!.id, endpoint: body.id, random };
}

const BRANDS = [undefined, 'acme', 'beta'] as const;
/** Inverters that several customers list. */
const SHARED = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];

const pick = <T>({ random }: History, of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
type Change = (world: World, history: History) => Promise<unknown>;

/** Calls the API. Whether the call is refused is of no interest here, unless the service fails. */
const call =
  (method: string, path: (history: History) => string, body?: (history: History) => object): Change =>
  async ({ client }, history) => {
    const { status, text } = await client.call(method, path(history), body?.(history));
    if (status === 500) throw new Error(`${method} ${path(history)}: ${text}`);
  };

/** Changes a random one of the rows that `of` selects, as a worker would. A constraint may refuse a change that is not possible. */
const change =
  (table: string, of: string, changes: readonly string[], key = 'id'): Change =>
  async ({ database }, history) => {
    const order = Math.floor(history.random() * 1_000);
    const text = `UPDATE ${table} t SET ${pick(history, changes)} WHERE t.${key} = (
      SELECT id FROM (${of}) rows ORDER BY hashtext(id::text || '${order}') LIMIT 1)`;
    await possibly(() => database.query(text, of.includes('$1') ? [history.location] : []), of);
  };

async function possibly(work: () => Promise<unknown>, what: string): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { code } = error as { code?: string };
    if (code?.startsWith('23') !== true) throw new Error(`the change failed: ${what}`, { cause: error });
  }
}

const hours = (column: string, from: number) => `${column} = clock_timestamp() + interval '${from} h'`;
const SESSIONS = 'SELECT id FROM onboarding_sessions WHERE grid_location_id = $1';
const CLOSED = `closed_at = clock_timestamp(), start_url_ciphertext = NULL, close_reason =`;
const state = (name: string, rule = 'planted', basis = 'observed') =>
  `state = '${name}', rule = '${rule}', basis = '${basis}', state_changed_at = clock_timestamp(), start_url_ciphertext = NULL`;
const STATES = [
  state('awaiting_owner'),
  state('awaiting_owner'),
  state('awaiting_installation', 'planted', 'inferred'),
  state('online'),
  state('expired'),
  state('lost', 'refused_on_every_path'),
  state('lost', 'not_found_on_every_path'),
  state('unrecognised'),
  state('unrecognised', 'too_many_inverters'),
  `finished = NOT finished`,
  hours('expires_at', 3),
  hours('expires_at', 200),
  hours('expires_at', -1),
  `${CLOSED} 'lost'`,
  `${CLOSED} 'settled'`,
  `superseded_at = clock_timestamp()`,
];
const READS = [
  `failures = failures + 1, failing_since = coalesce(failing_since, clock_timestamp())`,
  `failures = failures + 2, failing_since = coalesce(failing_since, clock_timestamp())`,
  `failures = failures + 1, failing_since = coalesce(failing_since, clock_timestamp()), not_found = not_found + 1, not_found_since = coalesce(not_found_since, clock_timestamp())`,
  `failures = 0, failing_since = NULL, not_found = 0, not_found_since = NULL, checked_at = clock_timestamp(), claimed_at = clock_timestamp(), due_at = clock_timestamp() + interval '10 min'`,
  `flapping_since = CASE WHEN changes_clear_at > clock_timestamp() THEN coalesce(flapping_since, clock_timestamp()) ELSE clock_timestamp() END,
    changes_clear_at = clock_timestamp() + interval '1 h'`,
  `flapping_since = NULL, changes_clear_at = NULL`,
];
const REGISTRATIONS = [
  `status = 'rejected', next_attempt_at = NULL, lease_token = NULL, lease_until = NULL, last_error = 'refused', updated_at = clock_timestamp()`,
  `status = 'uncertain', next_attempt_at = NULL, sent_at = clock_timestamp(), attempts = attempts + 1, updated_at = clock_timestamp()`,
  `status = 'pending', next_attempt_at = clock_timestamp() + interval '30 d', attempts = attempts + 1, updated_at = clock_timestamp()`,
];
const INVITATIONS = [
  `opened_at = coalesce(opened_at, clock_timestamp())`,
  `opened_at = coalesce(opened_at, clock_timestamp()), started_at = coalesce(started_at, clock_timestamp()), awaits = 'finish', awaits_since = clock_timestamp()`,
  `opened_at = coalesce(opened_at, clock_timestamp()), wished_at = clock_timestamp(), wish_due_at = clock_timestamp() + interval '1 min', wish_failed_at = NULL`,
  `wish_due_at = NULL`,
  `wish_due_at = NULL, wish_failed_at = clock_timestamp()`,
  `awaits = 'installation', awaits_since = clock_timestamp()`,
  `awaits = 'start', awaits_since = clock_timestamp()`,
  `online_at = clock_timestamp()`,
  hours('expires_at', 5),
  `expired_at = clock_timestamp(), wish_due_at = NULL`,
  `renewal_requested_at = clock_timestamp()`,
  `declined_at = clock_timestamp(), wish_due_at = NULL, wish_failed_at = NULL`,
];
const DELIVERY_FAILS = `failures = failures + 1, failing_since = coalesce(failing_since, clock_timestamp())`;
const ENDPOINTS = [
  `failures = 0, failing_since = NULL`,
  `disabled_at = clock_timestamp(), disabled_reason = 'gone'`,
  `disabled_at = clock_timestamp(), disabled_reason = 'failing'`,
  `disabled_at = clock_timestamp(), disabled_reason = 'requested'`,
];

const query =
  (text: (history: History) => readonly [string, ...unknown[]]): Change =>
  async ({ database }, history) => {
    const [statement, ...values] = text(history);
    await possibly(() => database.query(statement, values), statement);
  };
const ofReference = ({ reference }: History) =>
  `SELECT id FROM registrations WHERE tenant_reference = '${reference}-new'`;
/** Changes one of the sessions with its inverters, as each read that changes inverters does. */
const READ = `WITH s AS (
  UPDATE onboarding_sessions SET changed_at = clock_timestamp()
   WHERE id = (SELECT id FROM onboarding_sessions WHERE grid_location_id = $1 ORDER BY random() LIMIT 1) RETURNING id)`;

/** What may happen to a customer, its endpoint and the deployment, the more often the more entries it has. */
const CHANGES: readonly Change[] = [
  ...Array<Change>(4).fill(change('onboarding_sessions', SESSIONS, STATES)),
  ...Array<Change>(4).fill(change('session_polls', SESSIONS, READS, 'session_id')),
  query(({ location }) => [
    `DELETE FROM session_polls WHERE session_id = (SELECT id FROM onboarding_sessions WHERE grid_location_id = $1 ORDER BY random() LIMIT 1)`,
    location,
  ]),
  ...Array<Change>(2).fill(
    call(
      'POST',
      ({ location }) => `/onboarding/pv/${location}`,
      (history) => {
        const brand = pick(history, BRANDS);
        return { ...(brand && { brand }), reuse: false };
      },
    ),
  ),
  query((history) => [
    `INSERT INTO session_starts (grid_location_id, brand, status, lease_token, lease_until, last_error, updated_at)
     VALUES ($1, $2, 'failed', gen_random_uuid(), now(), 'refused', clock_timestamp())`,
    history.location,
    pick(history, BRANDS) ?? null,
  ]),
  ...Array<Change>(2).fill(
    query((history) => [
      `${READ} INSERT INTO inverters (session_id, id, first_seen_at, last_seen_at)
     SELECT id, $2, clock_timestamp(), clock_timestamp() FROM s`,
      history.location,
      history.random() < 0.7 ? pick(history, SHARED) : randomUUID(),
    ]),
  ),
  query((history) => [
    `${READ} UPDATE inverters SET missing_since = ${pick(history, ['clock_timestamp()', 'NULL'])} WHERE session_id IN (SELECT id FROM s)`,
    history.location,
  ]),
  query(({ location }) => [`${READ} DELETE FROM inverters WHERE session_id IN (SELECT id FROM s)`, location]),
  query((history) => [
    `INSERT INTO registrations (tenant_reference, eans, metadata, attempts, next_attempt_at)
     VALUES ($1, ARRAY[$2], '{}', $3, clock_timestamp() + interval '30 d')`,
    `${history.reference}-new`,
    newEan(),
    Math.floor(history.random() * 3),
  ]),
  ...Array<Change>(3).fill((world, history) =>
    change('registrations', ofReference(history), REGISTRATIONS)(world, history),
  ),
  async (world, history) => {
    const [row] = await world.database.query<{ id: string }>(
      `${ofReference(history)} ORDER BY random() LIMIT 1`,
    );
    const decision = pick(history, ['retry', 'discard']);
    if (row !== undefined) await call('POST', () => `/registrations/${row.id}/${decision}`)(world, history);
  },
  ...Array<Change>(2).fill(
    call(
      'POST',
      () => '/invitations',
      ({ location }) => ({ gridLocationId: location }),
    ),
  ),
  ...Array<Change>(4).fill(
    change('invitations', 'SELECT id FROM invitations WHERE grid_location_id = $1', INVITATIONS),
  ),
  ...Array<Change>(3).fill((world, history) =>
    change('webhook_endpoints', `SELECT '${history.endpoint}'::uuid AS id`, ENDPOINTS)(world, history),
  ),
  ...Array<Change>(2).fill((world, history) =>
    change(
      'webhook_endpoints',
      `SELECT id FROM webhook_endpoints WHERE id = '${history.endpoint}' AND disabled_at IS NULL`,
      [DELIVERY_FAILS],
    )(world, history),
  ),
  call(
    'PATCH',
    ({ endpoint }) => `/webhook-endpoints/${endpoint}`,
    () => ({ enabled: true }),
  ),
  query((history) => [
    `UPDATE remote_operations SET health = $2, reason = $3 WHERE operation = $1`,
    pick(history, ['token', 'register_user', 'start_session', 'read_session']),
    ...pick(history, [
      ['healthy', null],
      ['degraded', 'down'],
    ]),
  ]),
  query((history) => [
    `INSERT INTO brand_waits VALUES ($1, 60, $2, 20) ON CONFLICT (brand) DO UPDATE SET p95_seconds = excluded.p95_seconds`,
    pick(history, ['acme', 'beta']),
    pick(history, [600, 90_000]),
  ]),
];
const RARE: readonly Change[] = [
  call('DELETE', ({ userId }) => `/users/${userId}`),
  call('DELETE', ({ endpoint }) => `/webhook-endpoints/${endpoint}`),
];

export const takeStep: Change = (world, history) =>
  pick(history, history.random() < 0.02 ? RARE : CHANGES)(world, history);

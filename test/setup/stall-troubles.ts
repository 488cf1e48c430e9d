import { randomUUID } from 'node:crypto';
import type { TestClient } from './client.js';
import { insertConsent } from './consent.js';
import { newEan } from './ean.js';
import type { TestApp } from './test-app.js';

export interface Trouble {
  /** Makes a subject that is stalled for the cause, and returns its id. */
  readonly make: () => Promise<string>;
  readonly end: (id: string) => Promise<unknown>;
}

/** Returns how each cause of the catalogue comes about and ends in a service, mostly by its tables. */
export function troublesOf(service: TestApp, client: TestClient) {
  const query = <Row = Readonly<Record<string, unknown>>>(text: string, values: readonly unknown[] = []) =>
    service.database.query<Row>(text, values);
  const insertRegistration = async (values: string): Promise<string> => {
    const text = `INSERT INTO registrations (tenant_reference, eans, metadata, ${values.split(' = ')[0]})
      VALUES ($1, ARRAY[$2], '{}', ${values.split(' = ')[1]!}) RETURNING id`;
    return (await query<{ id: string }>(text, [randomUUID(), newEan()]))[0]!.id;
  };
  const set =
    (table: string, values: string, key = 'id') =>
    (id: string) =>
      query(`UPDATE ${table} SET ${values} WHERE ${key} = $1`, [id]);
  /** Starts a session, and changes its row and its poll. */
  const session = (values: string, poll?: string, brand?: string) => async () => {
    const { id } = await client.startNew({ brand });
    if (values !== '') await set('onboarding_sessions', values)(id);
    if (poll !== undefined) await set('session_polls', poll, 'session_id')(id);
    return id;
  };
  const CLOSE = `closed_at = now(), close_reason = 'late_window_over', start_url_ciphertext = NULL`;
  const close = set('onboarding_sessions', CLOSE);
  const aged = (hours: number) =>
    `recorded_at = recorded_at - interval '${hours} h', expires_at = expires_at - interval '${hours} h', state_changed_at = state_changed_at - interval '${hours} h'`;
  const ONLINE = `state = 'online', start_url_ciphertext = NULL`;
  const invite = (values: string) => async () => {
    const gridLocationId = await client.locate();
    const { body } = await client.call<{ id: string }>('POST', '/invitations', { gridLocationId });
    await set('invitations', values)(body.id);
    return body.id;
  };
  const revoke = (id: string) => client.call('DELETE', `/invitations/${id}`);
  const OLD = `created_at = created_at - interval '80 h', awaits_since = awaits_since - interval '80 h'`;
  const OPENED = `opened_at = now() - interval '79 h'`;
  const endpoint = (values: string) => async () => {
    const { body } = await client.call<{ id: string }>('POST', '/webhook-endpoints', {
      url: 'http://127.0.0.1:9/hooks',
    });
    await set('webhook_endpoints', values)(body.id);
    return body.id;
  };
  const repair = (id: string) =>
    client.call('PATCH', `/webhook-endpoints/${id}`, { enabled: true, url: 'http://127.0.0.1:9/new' });
  const missing = async (listed: number) => {
    const id = await session(ONLINE)();
    await query(
      `INSERT INTO inverters (session_id, id, first_seen_at, last_seen_at, missing_since)
       SELECT $1, gen_random_uuid(), now(), now(), CASE WHEN n > $2 THEN now() END FROM generate_series(1, 2) n`,
      [id, listed],
    );
    return id;
  };

  const troubles: Readonly<Record<string, Trouble>> = {
    'registration uncertain': {
      make: () => insertRegistration(`status = 'uncertain'`),
      end: (id) => client.call('POST', `/registrations/${id}/discard`),
    },
    'registration rejected': {
      make: () => insertRegistration(`status = 'rejected'`),
      end: async (id) =>
        query(
          `INSERT INTO registrations (tenant_reference, eans, metadata, next_attempt_at)
           SELECT tenant_reference, eans, '{}', now() + interval '1 day' FROM registrations WHERE id = $1`,
          [id],
        ),
    },
    'registration pending_too_long': {
      make: () =>
        insertRegistration(
          `attempts, next_attempt_at, created_at = 3, now() + interval '1 hour', now() - interval '2 hours'`,
        ),
      end: (id) => client.call('POST', `/registrations/${id}/discard`),
    },
    'start start_failed': {
      make: async () => {
        const gridLocationId = await client.locate();
        const [start] = await query<{ id: string }>(
          `INSERT INTO session_starts (grid_location_id, status, lease_token, lease_until, last_error)
           VALUES ($1, 'failed', gen_random_uuid(), now(), 'rejected with 500') RETURNING id`,
          [gridLocationId],
        );
        return start!.id;
      },
      end: async (id) => {
        const [start] = await query<{ place: string }>(
          'SELECT grid_location_id AS place FROM session_starts WHERE id = $1',
          [id],
        );
        return client.start(start!.place);
      },
    },
    'session lost': {
      make: session(`state = 'lost', rule = 'not_found_on_every_path'`),
      end: set('onboarding_sessions', ONLINE),
    },
    'session unwatched': {
      make: async () => {
        const { id } = await client.startNew();
        await query('DELETE FROM session_polls WHERE session_id = $1', [id]);
        return id;
      },
      end: close,
    },
    'session refused': {
      make: session('', `not_found = 2, failures = 2, not_found_since = now()`),
      end: set('session_polls', 'not_found = 0, failures = 0', 'session_id'),
    },
    'session too_many_inverters': {
      make: session(
        `state = 'unrecognised', rule = 'too_many_inverters', state_changed_at = now() - interval '1 h'`,
      ),
      end: set('onboarding_sessions', ONLINE),
    },
    'session unrecognised': {
      make: session(
        `state = 'unrecognised', rule = 'undescribed_flags', state_changed_at = now() - interval '1 h'`,
      ),
      end: set('onboarding_sessions', ONLINE),
    },
    'session remote_unreachable': {
      make: async () => {
        await client.startNew();
        return session(
          '',
          `failures = 3, failing_since = now() - interval '2 h', checked_at = now() - interval '3 h', claimed_at = now() - interval '3 h'`,
        )();
      },
      end: set('session_polls', 'failures = 0', 'session_id'),
    },
    'session flapping': {
      make: session('', `flapping_since = now(), changes_clear_at = now() + interval '1 h'`),
      end: set('session_polls', 'flapping_since = NULL', 'session_id'),
    },
    'session expiry_ignored': {
      make: session(`expires_at = now() - interval '1 h', recorded_at = now() - interval '1 day'`),
      end: set('onboarding_sessions', `state = 'expired', start_url_ciphertext = NULL`),
    },
    'session all_inverters_missing': { make: () => missing(0), end: close },
    'session some_inverters_missing': { make: () => missing(1), end: close },
    'session completed_not_online': {
      make: session(`${AWAITS_INSTALLATION}, state_changed_at = now() - interval '73 h'`),
      end: set('onboarding_sessions', `${ONLINE}, basis = 'observed'`),
    },
    'session expiring_soon': { make: session(aged(23)), end: close },
    'session started_not_completed': { make: session(aged(5)), end: set('onboarding_sessions', aged(-5)) },
    'invitation remote_unreachable': {
      make: invite(
        `opened_at = now(), wished_at = now() - interval '1 h', wish_due_at = now() + interval '1 h'`,
      ),
      end: set('invitations', 'wish_due_at = NULL'),
    },
    'invitation completed_not_online': {
      make: invite(`opened_at = now(), awaits = 'installation', awaits_since = now() - interval '80 h'`),
      end: set('invitations', 'online_at = now()'),
    },
    'invitation unreachable': {
      make: async () => {
        const id = await invite(OLD)();
        const message = { status: 'bounced', channel: 'email' };
        await client.call('POST', `/invitations/${id}/messages`, message);
        return id;
      },
      end: async (id) => {
        await query('UPDATE invitations SET created_at = now(), awaits_since = now() WHERE id = $1', [id]);
        return client.call('POST', `/invitations/${id}/messages`, { status: 'sent', channel: 'sms' });
      },
    },
    'invitation consent_withdrawn': {
      make: async () => {
        const gridLocationId = await client.locate();
        const { body: session } = await client.start(gridLocationId);
        await set('onboarding_sessions', ONLINE)(session.id);
        const { body } = await client.call<{ id: string }>('POST', '/invitations', { gridLocationId });
        await insertConsent(service.database, body.id);
        await client.call('POST', `/invitations/${body.id}/withdrawal`);
        return body.id;
      },
      end: revoke,
    },
    'invitation renewal_requested': {
      make: invite(`expires_at = now() - interval '1 ms', expired_at = now(), renewal_requested_at = now()`),
      end: async (id) => {
        const [{ place }] = (await query<{ place: string }>(
          'SELECT grid_location_id AS place FROM invitations WHERE id = $1',
          [id],
        )) as [{ place: string }];
        return client.call('POST', '/invitations', { gridLocationId: place });
      },
    },
    'invitation expiring_soon': {
      make: invite(`created_at = now() - interval '10 days', expires_at = now() + interval '1 h'`),
      end: revoke,
    },
    'invitation started_not_completed': {
      make: invite(`${OLD}, ${OPENED}, started_at = now() - interval '78 h'`),
      end: revoke,
    },
    'invitation never_opened': { make: invite(OLD), end: set('invitations', 'opened_at = now()') },
    'invitation opened_not_started': { make: invite(`${OLD}, ${OPENED}`), end: revoke },
    'inverter shared': {
      make: async () => {
        const id = randomUUID();
        for (let customer = 0; customer < 5; customer++) {
          const { id: sessionId } = await client.startNew();
          await query(
            'INSERT INTO inverters (session_id, id, first_seen_at, last_seen_at) VALUES ($1, $2, now(), now())',
            [sessionId, id],
          );
        }
        return id;
      },
      end: set('inverters', 'missing_since = now()'),
    },
    'endpoint gone': { make: endpoint(`disabled_at = now(), disabled_reason = 'gone'`), end: repair },
    'endpoint disabled_after_failures': {
      make: endpoint(
        `disabled_at = now(), disabled_reason = 'failing', failures = 30, failing_since = now() - interval '6 days'`,
      ),
      end: repair,
    },
    'endpoint failing': {
      make: endpoint(`failures = 3, failing_since = now() - interval '1 h'`),
      end: repair,
    },
  };
  return { troubles, insertRegistration, session, set, aged };
}

export const AWAITS_INSTALLATION = `state = 'awaiting_installation', basis = 'inferred'`;

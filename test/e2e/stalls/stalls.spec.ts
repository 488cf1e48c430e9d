import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import type { StalledItemView, StalledGroupsView } from '../../../src/stalls/stalled.view.js';
import { StallKinds } from '../../../src/stalls/stall-kinds.js';
import { StallTask } from '../../../src/stalls/stall-task.service.js';
import { TestClient } from '../../setup/client.js';
import { newEan } from '../../setup/ean.js';
import { useTestApp, type TestApp } from '../../setup/test-app.js';
import { createKey } from '../keys.js';
import { startReplica } from '../replica.js';

// Starts no worker, so that only the tests read sessions and look for stalls.
const service = useTestApp({ ROLE: 'api' });
const client = TestClient.of(service);
let other: TestApp;

beforeAll(async () => {
  other = await startReplica(service, { ROLE: 'api' });
});
afterAll(() => other.close());

const query = <Row = Readonly<Record<string, unknown>>>(text: string, values: readonly unknown[] = []) =>
  service.app.get(Database).query<Row>(text, values);
/** Looks at all due subjects with two replicas, three times with each, all at once. */
const look = () =>
  Promise.all([service, other, service, other, service, other].map(({ app }) => app.get(StallTask).run()));
const lookAgain = async (id: string) => {
  await query('UPDATE stall_looks SET look_at = clock_timestamp() WHERE subject = $1', [id]);
  await look();
};
const stalled = async (filter: string) =>
  (
    await client.call<{ items: (Omit<StalledItemView, 'since'> & { since: string })[] }>(
      'GET',
      `/stalled?limit=200&${filter}`,
    )
  ).body.items;
const told = async (id: string) =>
  (await client.events())
    .filter(({ subject, type }) => subject === id && type.startsWith('pv.stall.'))
    .map(({ type, data }) => `${type.replace(/^pv\.stall\.|\.v1$/g, '')} ${String(data.cause)}`);

interface Trouble {
  /** Makes a subject that is stalled for the cause, and returns its id. */
  readonly make: () => Promise<string>;
  readonly end: (id: string) => Promise<unknown>;
}

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
const AWAITS_INSTALLATION = `state = 'awaiting_installation', basis = 'inferred'`;
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

const TROUBLES: Readonly<Record<string, Trouble>> = {
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
  'endpoint failing': { make: endpoint(`failures = 3, failing_since = now() - interval '1 h'`), end: repair },
};

describe('a stall', () => {
  it('can have each cause of the catalogue', () => {
    const { all } = service.app.get(StallKinds);
    const declared = all.flatMap(({ kind, causes }) =>
      Object.keys(causes).map((cause) => `${kind} ${cause}`),
    );
    expect(declared.sort()).toEqual(Object.keys(TROUBLES).sort());
  });

  it.each(Object.entries(TROUBLES))(
    '%s is raised once, with words and remedies, and cleared',
    async (name, { make, end }) => {
      const [kind, cause] = name.split(' ');
      const id = await make();
      await look();
      const found = (await stalled(`kind=${kind}&cause=${cause}`)).find((each) => each.id === id);
      expect(found).toMatchObject({
        kind,
        cause,
        since: expect.any(String),
        text: expect.stringMatching(/^[A-Z].*\.$/),
      });
      expect(found!.text).not.toMatch(/undefined|null|NaN/);
      const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
        paths: Record<string, Record<string, { operationId: string }>>;
      };
      for (const { operationId, method, path } of found!.remedies) {
        const template = path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '{}');
        const known = Object.entries(paths).find(
          ([each]) => each.replace(/\{\w+\}/g, '{}') === template,
        )?.[1];
        expect(known?.[method.toLowerCase()]?.operationId.split('_')).toContain(operationId);
      }
      await lookAgain(id);
      expect(await told(id)).toEqual([`raised ${cause}`]);
      await end(id);
      await look();
      expect((await stalled(`kind=${kind}`)).filter((each) => each.id === id)).toEqual([]);
      expect(await told(id)).toEqual([`raised ${cause}`, `cleared ${cause}`]);
    },
  );

  it('is announced again when its cause changes, without having been cleared', async () => {
    const { id } = await client.startNew();
    await set('onboarding_sessions', aged(5))(id);
    await look();
    await set('onboarding_sessions', aged(18))(id);
    await look();
    expect(await told(id)).toEqual(['raised started_not_completed', 'raised expiring_soon']);
  });

  it('has no words of the remote service in its events', async () => {
    const id = await insertRegistration(`status, last_error = 'uncertain', 'reset by <peer>'`);
    await look();
    expect((await stalled('kind=registration')).find((each) => each.id === id)!.text).toContain(
      'reset by <peer>',
    );
    expect(JSON.stringify((await client.events()).filter(({ subject }) => subject === id))).not.toContain(
      '<peer>',
    );
  });

  it('is listed by its filters, in pages and in groups, with its place and its campaign', async () => {
    const campaignId = randomUUID();
    const sessions = [await client.startNew({ brand: 'pages' }), await client.startNew({ brand: 'pages' })];
    for (const { id, userId } of sessions) {
      await query('UPDATE registrations SET campaign_id = $2 WHERE user_id = $1', [userId, campaignId]);
      await set('onboarding_sessions', aged(5))(id);
    }
    await look();
    const [{ id, tenantReference, gridLocationId }] = sessions as [(typeof sessions)[0]];
    const filters = {
      tenantReference,
      gridLocationId,
      cause: 'started_not_completed',
      waitsFor: 'owner',
      brand: 'pages',
      campaignId,
    };
    const all = new URLSearchParams(filters as Record<string, string>).toString();
    expect(await stalled(all)).toMatchObject([
      { id, tenantReference, gridLocationId, brand: 'pages', campaignId },
    ]);
    for (const filter of [
      'waitsFor=tenant',
      'kind=invitation',
      'cause=lost',
      `since=${new Date().toISOString()}`,
    ])
      expect(await stalled(`campaignId=${campaignId}&${filter}`)).toEqual([]);
    const first = (
      await client.call<{ items: { id: string }[]; next: string }>('GET', `/stalled?brand=pages&limit=1`)
    ).body;
    const second = (
      await client.call<typeof first>('GET', `/stalled?brand=pages&limit=1&cursor=${first.next}`)
    ).body;
    expect([...first.items, ...second.items].map((each) => each.id).sort()).toEqual(
      sessions.map((each) => each.id).sort(),
    );
    expect(second.next).toBeNull();
    const groups = (await client.call<StalledGroupsView>('GET', '/stalled/groups')).body.items;
    const [{ count }] = (await query<{ count: number }>(
      `SELECT count(*)::int FROM stalls WHERE cause = 'started_not_completed' AND kind = 'session'`,
    )) as [{ count: number }];
    expect(
      groups.find((each) => each.kind === 'session' && each.cause === 'started_not_completed'),
    ).toMatchObject({
      ...{ waitsFor: 'owner', urgency: 'later', count, new: count },
      oldest: expect.arrayContaining([expect.objectContaining({ id, kind: 'session' })]),
    });
  });

  it('is shown to a key that may read its kind', async () => {
    const kindsOf = async (...scopes: Parameters<typeof createKey>[1][]) => {
      const { app } = await createKey(client, ...scopes);
      const { status, body } = await app.call<{ items: { kind: string }[] }>('GET', '/stalled?limit=200');
      return status === 200 ? [...new Set(body.items.map(({ kind }) => kind))].sort() : status;
    };
    await insertRegistration(`status = 'uncertain'`);
    await TROUBLES['endpoint gone']!.make();
    await look();
    expect(await kindsOf('users:read')).toEqual(['registration']);
    expect(await kindsOf('webhooks:manage')).toEqual(['endpoint']);
    expect(await kindsOf('events:read')).toBe(403);
  });

  it('leaves nothing when its user is erased but its events, without personal data', async () => {
    const { id, userId, tenantReference } = await client.startNew({ metadata: { label: 'Kerkstraat 12' } });
    await set('onboarding_sessions', aged(5))(id);
    await look();
    await client.call('DELETE', `/users/${userId}`);
    expect(
      await query('SELECT FROM stalls WHERE subject = $1 OR tenant_reference = $2', [id, tenantReference]),
    ).toEqual([]);
    await look();
    expect(await told(id)).toEqual(['raised started_not_completed', 'cleared started_not_completed']);
    const text = JSON.stringify((await client.events()).filter(({ subject }) => subject === id));
    expect(text).not.toMatch(new RegExp(`Kerkstraat|${tenantReference}`));
    expect(await query('SELECT FROM stall_looks WHERE subject = $1', [id])).toEqual([]);
  });

  it('waits while the remote service serves nobody', async () => {
    const trouble = `UPDATE remote_operations SET health = 'degraded', reason = 'down' WHERE operation IN ('read_session', 'register_user', 'start_session')`;
    await query(trouble);
    const names = [
      'session remote_unreachable',
      'registration pending_too_long',
      'invitation remote_unreachable',
    ];
    const ids: string[] = [];
    for (const name of names) ids.push(await TROUBLES[name]!.make());
    await look();
    expect(await query('SELECT FROM stalls WHERE subject = ANY ($1)', [ids])).toEqual([]);
    await query(`UPDATE remote_operations SET health = 'healthy', reason = NULL`);
    for (const id of ids) await lookAgain(id);
    expect(await query('SELECT kind FROM stalls WHERE subject = ANY ($1)', [ids])).toHaveLength(3);
  });

  it('of a brand whose usual wait is known counts after this wait', async () => {
    const make = session(
      `${AWAITS_INSTALLATION}, state_changed_at = now() - interval '1 h'`,
      undefined,
      'quick',
    );
    const id = await make();
    await look();
    expect(await query('SELECT FROM stalls WHERE subject = $1', [id])).toEqual([]);
    await query(`INSERT INTO brand_waits VALUES ('quick', 60, 1800, 20)`);
    await lookAgain(id);
    expect(await query('SELECT cause, evidence FROM stalls WHERE subject = $1', [id])).toEqual([
      {
        cause: 'completed_not_online',
        evidence: { thresholdSeconds: 1_800, thresholdFrom: 'brand_p95', known: 20 },
      },
    ]);
  });
});

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { declaredKinds, seed } from '../../../bench/seed/seed.js';
import { WAITS } from '../../../src/customers/waits.rules.js';
import { SESSIONS } from '../../../src/onboarding/api/sessions.list.js';
import type { Sql } from '../../../src/platform/database/database.js';
import { SESSION_STATES } from '../../../src/events/event-schemas.rules.js';
import { INVITATION_STATES } from '../../../src/invitations/invitation.rules.js';
import { STALL_KINDS, type Wait } from '../../../src/stalls/cause.rules.js';
import { SCOPE_OF_KIND } from '../../../src/stalled/scopes.js';
import type { StalledItemView, StalledGroupsView } from '../../../src/stalled/stalled-items.view.js';
import { StallKinds } from '../../../src/stalls/stall-kinds.js';
import { StallTask } from '../../../src/stalls/stall-task.service.js';
import { GROUP_STALLS } from '../../../src/stalled/stalled.sql.js';
import { StallsStore } from '../../../src/stalls/stalls.store.js';
import { TestClient } from '../../setup/client.js';
import { useTestDatabase } from '../../setup/database/test-database.js';
import { AWAITS_INSTALLATION, troublesOf } from '../../setup/stall-troubles.js';
import { useTestApp, type TestApp } from '../../setup/test-app.js';
import { environmentFor } from '../../setup/test-environment.js';
import { waitFor } from '../../setup/wait-for.js';
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
  service.database.query<Row>(text, values);
/** Looks at all due subjects with two replicas, three times with each, all at once. */
const look = () =>
  Promise.all([service, other, service, other, service, other].map(({ app }) => app.get(StallTask).run()));
const lookAgain = async (id: string) => {
  await query('UPDATE stall_looks SET look_at = DEFAULT WHERE subject = $1', [id]);
  await look();
};
const stalled = async (filter: string) =>
  await client.list<Omit<StalledItemView, 'since'> & { since: string }>(`/stalled?limit=200&${filter}`);
const told = async (id: string) =>
  (await client.events())
    .filter(({ subject, type }) => subject === id && type.startsWith('pv.stall.'))
    .map(({ type, data }) => `${type.replace(/^pv\.stall\.|\.v1$/g, '')} ${String(data.cause)}`);

const { troubles, insertRegistration, session, set, aged } = troublesOf(service, client);

describe('a stall', () => {
  it('can have each cause of the catalogue', () => {
    const { all } = service.app.get(StallKinds);
    const declared = all.flatMap(({ kind, causes }) =>
      Object.keys(causes).map((cause) => `${kind} ${cause}`),
    );
    expect(declared.sort()).toEqual(Object.keys(troubles).sort());
  });

  it('waits for whom, is as urgent and has the remedies that the catalogue says', async () => {
    await look();
    const rows = await query(
      'SELECT kind, cause, waits_for AS "waitsFor", urgency, remedies FROM stall_causes ORDER BY kind, cause',
    );
    const declared = service.app.get(StallKinds).all.flatMap(({ kind, causes }) =>
      Object.entries(causes).map(([cause, { waitsFor, urgency, remedies }]) => ({
        ...{ kind, cause, waitsFor, urgency },
        remedies: remedies.map(({ operationId }) => operationId),
      })),
    );
    const inOrder = declared.sort((one, other) =>
      one.kind === other.kind ? (one.cause < other.cause ? -1 : 1) : one.kind < other.kind ? -1 : 1,
    );
    expect(rows).toEqual(inOrder);
  });

  it('has remedies whose operations the console knows', async () => {
    const source = await readFile('console/src/rules/stalled.ts', 'utf8');
    const known = new Set([...source.matchAll(/^ {2}(\w+): \{\s*scopes: /gm)].map(([, name]) => name));
    const catalogues = [...service.app.get(StallKinds).all.map(({ causes }) => causes), WAITS];
    const named = catalogues.flatMap((waits: Readonly<Record<string, Wait>>) =>
      Object.values(waits).flatMap(({ remedies }) => remedies.map(({ operationId }) => operationId)),
    );
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it.each(Object.entries(troubles))(
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
      const list = kind === 'start' ? 'onboarding/starts' : kind === 'session' ? 'onboarding/pv' : `${kind}s`;
      if (kind !== 'inverter' && kind !== 'endpoint')
        expect(await client.list(`/${list}?limit=200`)).toContainEqual(
          expect.objectContaining({ id, stalled: expect.objectContaining({ cause }) }),
        );
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

  it('is not a failed start that was repeated, that an owner can repeat, or that is repeated after a click', async () => {
    const id = await troubles['start start_failed']!.make();
    const [start] = await query<{ place: string }>(
      'SELECT grid_location_id AS place FROM session_starts WHERE id = $1',
      [id],
    );
    const isStalled = async () => {
      await look();
      return (await stalled('kind=start')).some((each) => each.id === id);
    };
    expect(await isStalled()).toBe(true);
    const { body: invitation } = await client.call<{ id: string }>('POST', '/invitations', {
      gridLocationId: start!.place,
    });
    expect(await isStalled()).toBe(false);
    await query(`UPDATE session_starts SET created_at = now() WHERE id = $1`, [id]);
    expect(await isStalled()).toBe(true);
    await query(
      `UPDATE invitations SET opened_at = now(), wished_at = now(), wish_due_at = now() + interval '1 hour' WHERE id = $1`,
      [invitation.id],
    );
    expect(await isStalled()).toBe(false);
    await client.call('DELETE', `/invitations/${invitation.id}`);
    expect(await isStalled()).toBe(true);
    await query(
      `INSERT INTO session_starts SELECT (jsonb_populate_record(s, jsonb_build_object('id', $2::text, 'created_at', now()))).*
         FROM session_starts s WHERE id = $1`,
      [id, '00000000-0000-4000-8000-000000000000'],
    );
    expect(await isStalled()).toBe(false);
  });

  it('is announced again when its cause changes, without having been cleared', async () => {
    const { id } = await client.startNew();
    await set('onboarding_sessions', aged(5))(id);
    await look();
    await set('onboarding_sessions', aged(18))(id);
    await look();
    expect(await told(id)).toEqual(['raised started_not_completed', 'raised expiring_soon']);
  });

  it.each([
    [
      'registration',
      async () => {
        const id = await insertRegistration(`status = 'rejected'`);
        return [id, () => troubles['registration rejected']!.end(id)] as const;
      },
    ],
    [
      'start',
      async () => {
        const id = await troubles['start start_failed']!.make();
        const text = `INSERT INTO session_starts (grid_location_id, lease_token, lease_until)
          SELECT grid_location_id, gen_random_uuid(), now() + interval '1 h' FROM session_starts WHERE id = $1`;
        return [id, () => query(text, [id])] as const;
      },
    ],
  ])('of a %s ends if it is replaced while the stall is being written', async (kind, make) => {
    const [id, replace] = await make();
    let replaced: Promise<unknown> = Promise.resolve();
    let isReplaced = false;
    await service.database.transaction(async (tx) => {
      await tx.query('SELECT FROM stall_looks WHERE subject = $1 FOR UPDATE', [id]);
      await tx.query(
        `INSERT INTO stalls (kind, subject, cause, since, evidence) VALUES ($1, $2, 'planted', now(), '{}')`,
        [kind, id],
      );
      await tx.query('DELETE FROM stall_looks WHERE subject = $1', [id]);
      replaced = replace().then(() => (isReplaced = true));
      await waitFor('the replacement to be made or to wait', async () => {
        const waiting = await query(
          `SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT l.granted AND a.datname = current_database()`,
        );
        return isReplaced || waiting.length > 0;
      });
    });
    await replaced;
    await look();
    expect(await query('SELECT FROM stalls WHERE subject = $1', [id])).toEqual([]);
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
    expect(groups).toEqual(groups.toSorted((one, other) => other.new - one.new || other.count - one.count));
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

  it('is counted as often as it is in the table, whatever concurrent statements insert, update, delete and merge', async () => {
    const store = service.app.get(StallsStore);
    const write = async (cause: string) => {
      for (const hours of [0, 23.5, 24.5, 26, 999]) {
        await query(
          `INSERT INTO stalls (kind, subject, cause, since, evidence)
           SELECT 'session', gen_random_uuid(), $1, now() - $2::float8 * interval '1 h', '{"planted": true}' FROM generate_series(1, 500)`,
          [cause, hours],
        );
        await query(
          `UPDATE stalls SET cause = 'lost', since = since - interval '30 minutes' WHERE cause = $1 AND random() < 0.3`,
          [cause],
        );
        await query(`DELETE FROM stalls WHERE cause = $1 AND random() < 0.3`, [cause]);
        await store.mergeCounts(0);
      }
    };
    await Promise.all([write('flapping'), write('flapping'), write('refused'), write('unwatched')]);
    await query(`UPDATE stalls SET note = 'seen' WHERE cause = 'flapping'`);
    // One statement, so that both read the same snapshot.
    const [found] = await query(
      `SELECT (SELECT json_agg(json_build_array(kind, cause, count, new, items -> 0 -> 'since') ORDER BY kind, cause) FROM (${GROUP_STALLS}) g) AS counted,
              (SELECT json_agg(json_build_array(kind, cause, count, new, oldest) ORDER BY kind, cause)
                 FROM (SELECT kind, cause, count(*), count(*) FILTER (WHERE since > now() - interval '24 h') AS new, min(since) AS oldest
                         FROM stalls GROUP BY kind, cause) t) AS stored`,
      [STALL_KINDS, 1],
    );
    await query(`DELETE FROM stalls WHERE evidence ? 'planted'`);
    expect(found!.counted).toEqual(found!.stored);
  });

  it('is shown to a key that may read its kind', async () => {
    const kindsOf = async (...scopes: Parameters<typeof createKey>[1][]) => {
      const { app } = await createKey(client, ...scopes);
      const { status, body } = await app.call<{ items: { kind: string }[] }>('GET', '/stalled?limit=200');
      return status === 200 ? [...new Set(body.items.map(({ kind }) => kind))].sort() : status;
    };
    const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, Record<string, unknown>>>;
    };
    for (const path of ['/api/v1/stalled', '/api/v1/stalled/groups'])
      expect(paths[path]?.get).toMatchObject({
        'x-required-scope': 'users:read | onboarding:read | webhooks:manage',
        'x-scope-of': SCOPE_OF_KIND,
        description: expect.stringContaining('with `webhooks:manage` endpoint.'),
      });
    await insertRegistration(`status = 'uncertain'`);
    await troubles['endpoint gone']!.make();
    await look();
    expect(await kindsOf('users:read')).toEqual(['registration']);
    expect(await kindsOf('webhooks:manage')).toEqual(['endpoint']);
    expect(await kindsOf('events:read')).toBe(403);
  });

  describe('that people work on', () => {
    const make = async () => {
      const { id, userId } = await client.startNew();
      await set('onboarding_sessions', aged(5))(id);
      await look();
      return { id, userId };
    };
    const soon = () => new Date(Date.now() + 3_600_000).toISOString();
    const work = (id: string, change: object, by = client) =>
      by.call<StalledItemView>('PATCH', `/stalled/${id}`, { kind: 'session', ...change });
    const read = async (id: string) => (await stalled('kind=session')).find((each) => each.id === id)!;

    it('has their note, assignee and snooze, until it ends', async () => {
      const { id } = await make();
      expect(await read(id)).toMatchObject({ note: null, assignee: null, snoozedUntil: null });
      const snoozedUntil = soon();
      const words = { note: 'Has called twice.\nCall after six.', assignee: 'Anne' };
      expect(await work(id, { ...words, snoozedUntil })).toMatchObject({
        status: 200,
        body: { id, kind: 'session', ...words, snoozedUntil },
      });
      expect((await work(id, { assignee: null })).body).toMatchObject({ note: words.note, assignee: null });
      await lookAgain(id);
      expect(await read(id)).toMatchObject({ note: words.note, snoozedUntil });
      // Another cause wakes it, and keeps the note.
      await set('onboarding_sessions', aged(18))(id);
      await look();
      expect(await read(id)).toMatchObject({ cause: 'expiring_soon', note: words.note, snoozedUntil: null });
      const groups = (await client.call<StalledGroupsView>('GET', '/stalled/groups')).body.items;
      expect(groups.flatMap(({ oldest }) => oldest).find((each) => each.id === id)).toHaveProperty('note');
      await set('onboarding_sessions', aged(-30))(id);
      await look();
      expect(await work(id, { note: 'too late' })).toMatchObject({
        status: 409,
        body: { code: 'stall_over' },
      });
      await set('onboarding_sessions', aged(12))(id);
      await look();
      expect(await read(id)).toMatchObject({ note: null, assignee: null });
    });

    it('wakes when its evidence changes, and by itself', async () => {
      const id = await insertRegistration(`status, last_error, attempts = 'uncertain', 'reset', 1`);
      await look();
      const snooze = { kind: 'registration', snoozedUntil: soon() };
      const item = async () => (await stalled('kind=registration')).find((each) => each.id === id)!;
      const snoozed = async () => (await item()).snoozedUntil;
      await client.call('PATCH', `/stalled/${id}`, snooze);
      const before = await item();
      expect(before.snoozedUntil).toBe(snooze.snoozedUntil);
      await query('UPDATE registrations SET attempts = 2 WHERE id = $1', [id]);
      await look();
      const { text, evidence } = before;
      const changed = { text: text.replace('1', '2'), evidence: { ...evidence, attempts: 2 } };
      expect(await item()).toEqual({ ...before, ...changed, snoozedUntil: null });
      await client.call('PATCH', `/stalled/${id}`, snooze);
      await query(`UPDATE stalls SET snoozed_until = now() - interval '1 s' WHERE subject = $1`, [id]);
      expect(await snoozed()).toBeNull();
    });

    it.each([
      ['past', 'snoozedUntil', '2026-01-01T00:00:00Z'],
      ['year after the next', 'snoozedUntil', new Date(Date.now() + 367 * 86_400_000).toISOString()],
      ['word', 'snoozedUntil', 'tomorrow'],
      ['nothing', 'note', ''],
      ['long text', 'note', 'x'.repeat(2_001)],
      ['hidden text', 'note', 'hidden\u202e'],
      ['two lines', 'assignee', 'two\nlines'],
      ['other kind', 'kind', 'customer'],
    ])('refuses the %s as %s', async (_what, field, value) => {
      const { status, body } = await work(randomUUID(), { [field]: value });
      expect([status, body]).toMatchObject([400, { errors: [{ field }] }]);
    });

    it('needs a scope that writes its kind, and is audited without its texts', async () => {
      const { id } = await make();
      const { app, id: keyId } = await createKey(client, 'onboarding:write');
      const { app: other } = await createKey(client, 'users:write', 'onboarding:read');
      expect((await work(id, { note: 'no' }, other)).status).toBe(403);
      expect((await work(id, { note: 'Kerkstraat 12' }, app)).status).toBe(200);
      expect((await work(randomUUID(), { note: 'nobody' })).status).toBe(404);
      const { text, body } = await client.call<{ items: object[] }>('GET', `/audit-log?targets=${id}`);
      expect(text).not.toContain('Kerkstraat');
      expect(body.items).toMatchObject([
        {
          actor: `key:${keyId}`,
          action: 'stall.changed',
          details: { kind: 'session', cause: 'started_not_completed', changed: ['note'] },
        },
      ]);
    });

    it('loses the note when its user is erased, also if the inverter of several customers is stalled', async () => {
      const { id, userId } = await make();
      await work(id, { note: 'Kerkstraat 12' });
      const inverter = await troubles['inverter shared']!.make();
      await look();
      await client.call('PATCH', `/stalled/${inverter}`, { kind: 'inverter', note: 'Kerkstraat 12' });
      const [{ owner }] = (await query<{ owner: string }>(
        'SELECT s.user_id AS owner FROM inverters i JOIN onboarding_sessions s ON s.id = i.session_id WHERE i.id = $1 LIMIT 1',
        [inverter],
      )) as [{ owner: string }];
      const notes = async (subject: string) =>
        (await query<{ note: string | null }>('SELECT note FROM stalls WHERE subject = $1', [subject])).map(
          ({ note }) => note,
        );
      const exported = await client.call<{ data: { stalls: object[] } }>('GET', `/users/${userId}/export`);
      expect(exported.body.data.stalls).toMatchObject([{ subject: id }]);
      await client.call('DELETE', `/users/${userId}`);
      expect([await notes(id), await notes(inverter)]).toEqual([[], ['Kerkstraat 12']]);
      await client.call('DELETE', `/users/${owner}`);
      expect((await notes(inverter)).filter((note) => note !== null)).toEqual([]);
    });
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
    for (const name of names) ids.push(await troubles[name]!.make());
    await look();
    expect(await query('SELECT FROM stalls WHERE subject = ANY ($1)', [ids])).toEqual([]);
    await query(`UPDATE remote_operations SET health = 'healthy', reason = NULL`);
    const readOthers = (at: string) =>
      query('UPDATE session_polls SET checked_at = $1 WHERE failures = 0', [at]);
    await readOthers('yesterday');
    await lookAgain(ids[0]!);
    expect(await query('SELECT FROM stalls WHERE subject = $1', [ids[0]])).toEqual([]);
    await readOthers('now');
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

describe('the population of npm run bench -- seed', () => {
  const testDatabase = useTestDatabase();
  const environment = () => environmentFor(testDatabase.url);
  const seeding = { sessions: 1_000, force: false, say: () => {} };
  const rows = <Row>(text: string) => database.query<Row>(text);
  const stalls = () => rows<Readonly<Record<string, unknown>>>('SELECT * FROM stalls ORDER BY kind, subject');

  const database = testDatabase.open();

  beforeAll(async () => {
    await seed(environment(), seeding);
  });

  it('has stalls of each cause, and three sessions of ten are stalled', async () => {
    const found = await rows<{ name: string }>(`SELECT DISTINCT kind || ' ' || cause AS name FROM stalls`);
    expect(found.map(({ name }) => name).sort()).toEqual(Object.keys(troubles).sort());
    expect((await stalls()).filter(({ kind }) => kind === 'session')).toHaveLength(300);
  });

  it('has sessions and invitations of each state', async () => {
    const states = await rows<{ state: string }>('SELECT DISTINCT state FROM onboarding_sessions ORDER BY 1');
    expect(states.map(({ state }) => state)).toEqual([...SESSION_STATES].sort());
    const invitations = await rows<{ state: string }>(
      'SELECT DISTINCT state FROM admin.invitations ORDER BY 1',
    );
    expect(invitations.map(({ state }) => state)).toEqual([...INVITATION_STATES].sort());
  });

  it('has the stalls that the service finds, whatever was written', async () => {
    const before = await stalls();
    const everything = [
      ['registration', 'registrations'],
      ['start', 'session_starts'],
      ['session', 'onboarding_sessions'],
      ['invitation', 'invitations'],
      ['inverter', 'inverters'],
      ['endpoint', 'webhook_endpoints'],
    ].map(([kind, table]) => `SELECT DISTINCT '${kind}', id FROM ${table}`);
    await rows(`INSERT INTO stall_looks (kind, subject) ${everything.join(' UNION ALL ')}
      ON CONFLICT (kind, subject) DO UPDATE SET look_at = excluded.look_at`);
    const store = new StallsStore(database, declaredKinds(environment()));
    while ((await store.lookAtDue(1_000)) > 0);
    expect(await stalls()).toEqual(before);
  });

  it('is asked once per look whether other sessions are read', async () => {
    const { facts } = declaredKinds(environment()).all.find(({ kind }) => kind === 'session')!;
    const ids = (await rows<{ id: string }>('SELECT id FROM onboarding_sessions')).map(({ id }) => id);
    const plan = await database.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN (ANALYZE, TIMING off) ${facts.text}`,
      [ids],
    );
    const scans = plan.map((row) => row['QUERY PLAN']).filter((line) => line.includes('session_polls other'));
    expect(scans).toEqual([expect.stringMatching(/loops=1\)$/)]);
  });

  // In the order of the list, PostgreSQL might read half of a million sessions for a page.
  it('is read from the stalls of a cause, for the list of its sessions', async () => {
    const explained: Sql = {
      query: (text, values) => database.query(`EXPLAIN ${text as string}`, values),
    };
    const query = { limit: 50, stalled: 'completed_not_online' } as const;
    const { items } = await SESSIONS.page<{ 'QUERY PLAN': string }>(explained, query);
    expect(items.map((row) => row['QUERY PLAN']).join()).toContain('Index Cond: (id = ANY');
  });

  it('is refused where users are, unless it is forced', async () => {
    await expect(seed(environment(), seeding)).rejects.toThrow('has users');
    await seed(environment(), { ...seeding, sessions: 10, force: true });
    expect(await rows('SELECT count(*)::int AS users FROM users')).toEqual([{ users: 1_111 }]);
  });
});

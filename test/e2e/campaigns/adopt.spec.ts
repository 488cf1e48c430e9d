import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Scope } from '../../../src/access/scopes.js';
import { MARK_REPEATED } from '../../../src/campaigns/adoption/adoption.sql.js';
import { AdoptionStore } from '../../../src/campaigns/adoption/adoption.store.js';
import { ErasuresStore } from '../../../src/privacy/erasure/erasures.store.js';
import { Database } from '../../../src/platform/database/database.js';
import { reportOf, rowsOf, upload } from '../../campaigns/campaign-client.js';
import { campaignStatus } from '../../setup/campaign.js';
import { TestClient, type UserAnswer } from '../../setup/client.js';
import { insertRow, tomorrow } from '../../db/valid-rows.js';
import { newEan } from '../../setup/ean.js';
import type { SandboxControl } from '../../setup/sandbox/sandbox-control.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { createKey } from '../keys.js';

const service = useTestApp({ EAN_CHECK_DIGIT: 'off' });
const client = TestClient.of(service);
let database: Database;
let control: SandboxControl;

beforeAll(() => {
  database = service.database;
  control = service.sandbox!.control;
});
afterEach(() => control.clearFaults());

type Existing = Awaited<ReturnType<SandboxControl['seed']>>[number];

const rowOf = ({ userId, tenantReference, gridLocationId, ean, sessionId }: Existing) => ({
  tenantReference,
  user: { id: userId, gridLocations: [{ id: gridLocationId, ean }] },
  sessions: [{ id: sessionId }] as object[],
});
type Row = ReturnType<typeof rowOf>;
const send = (rows: readonly object[], query = '') =>
  upload(service, rows.map((row) => JSON.stringify(row)).join('\n'), `adopt=true${query}`, {
    'content-type': 'application/x-ndjson',
  });
/** Adopts rows in a campaign. Returns the rows of the finished campaign. */
async function adopt(rows: readonly object[], query = '') {
  const { body } = await send(rows, query);
  await waitFor(
    'the campaign is finished',
    async () => (await campaignStatus(database, body.id)) === 'finished',
  );
  return rowsOf(service, body.id);
}
const seedOne = async () => (await control.seed(1))[0]!;

describe('adopting what exists', () => {
  it('mirrors users, locations and sessions with their states and events, and creates nothing', async () => {
    const [waiting, online] = (await control.seed(2)) as [Existing, Existing];
    await control.complete(online.sessionId, { inverters: 2, onlineAfterMs: null });
    await control.online(online.sessionId, { inverters: 2 });
    const rows = await adopt([{ ...rowOf(waiting), metadata: { from: 'before' } }, rowOf(online)]);
    expect(reportOf(rows)).toEqual(['1 registered', '2 registered']);
    expect(rows.map(({ userId }) => userId)).toEqual([waiting.userId, online.userId]);

    const { body: user } = await client.call<UserAnswer>('GET', `/users/${waiting.userId}`);
    expect(user).toMatchObject({
      tenantReference: waiting.tenantReference,
      metadata: { from: 'before' },
      gridLocations: [{ id: waiting.gridLocationId, ean: waiting.ean }],
    });
    expect(await client.eventsOf(waiting.userId)).toEqual(['user.registered']);
    const { body: registration } = await client.call('GET', `/registrations/${rows[0]!.registrationId}`);
    expect(registration).toMatchObject({ status: 'registered', userId: waiting.userId, attempts: 0 });

    await client.untilState(online.sessionId, 'online');
    const session = await client.session(online.sessionId);
    expect(session).toMatchObject({ userId: online.userId, gridLocationId: online.gridLocationId });
    expect(session.inverters).toHaveLength(2);
    const events = await client.eventsOf(online.sessionId);
    expect(events.slice(0, 2)).toEqual(['session.started', 'session.online']);
    expect(await client.eventsOf(waiting.sessionId)).toEqual(['session.started']);
    expect(await client.session(waiting.sessionId)).toMatchObject({ state: 'awaiting_owner' });

    const operations = new Set((await control.requests()).map(({ operation }) => operation));
    expect([...operations].filter((operation) => operation !== 'probe').sort()).toEqual([
      'read_session',
      'token',
    ]);
    expect(await control.ledger()).toMatchObject({ users: [], sessions: [] });
  });

  it('finds what is there when it is repeated', async () => {
    const existing = await seedOne();
    expect(reportOf(await adopt([rowOf(existing)]))).toEqual(['1 registered']);
    const dryRun = await send([rowOf(existing)], '&dryRun=true');
    expect(dryRun.body).toMatchObject({ status: 'checked', adopt: true, counts: { known: 1 } });
    const { body } = await client.call('GET', `/audit-log?targets=${dryRun.body.id}`);
    const details = { dryRun: true, invite: false, adopt: true };
    const actor = 'environment';
    expect(body).toMatchObject({ items: [{ action: 'campaign.created', actor, details }] });
    const again = await adopt([rowOf(existing)]);
    expect(reportOf(again)).toEqual(['1 known']);
    expect(again[0]).toMatchObject({ userId: existing.userId });
    expect(await client.eventsOf(existing.userId)).toEqual(['user.registered']);
    expect(await client.eventsOf(existing.sessionId)).toEqual(['session.started']);
  });

  it('continues a row whose worker died after the user was stored', async () => {
    const existing = await seedOne();
    await control.addFault({ kind: 'hold', operation: 'read_session', contains: existing.sessionId });
    const { body } = await send([rowOf(existing)]);
    await waitFor('the user is stored', async () => (await client.eventsOf(existing.userId)).length === 1);
    expect(reportOf(await rowsOf(service, body.id))).toEqual(['1 accepted']);
    // Simulates that another worker claims the campaign.
    await database.query(
      `UPDATE campaigns SET lease_token = NULL, lease_until = NULL, due_at = now() - interval '1 ms' WHERE id = $1`,
      [body.id],
    );
    await control.clearFaults();
    await waitFor(
      'the campaign is finished',
      async () => (await campaignStatus(database, body.id)) === 'finished',
    );
    expect(reportOf(await rowsOf(service, body.id))).toEqual(['1 registered']);
    expect(await client.eventsOf(existing.userId)).toEqual(['user.registered']);
    expect(await client.eventsOf(existing.sessionId)).toEqual(['session.started']);
  });

  it('passes over rows that the database refuses, and tries them again under another lease', async () => {
    const existing = await control.seed(18);
    // As many as one step takes.
    const refused = existing.slice(0, 16).map(({ tenantReference }) => tenantReference);
    await database.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON campaign_rows FOR EACH ROW
        WHEN (new.status = 'registered' AND new.tenant_reference IN ('${refused.join("', '")}')) EXECUTE FUNCTION refuse()`);
    const { body } = await send(existing.map(rowOf));
    const registered = async () =>
      (await rowsOf(service, body.id)).filter(({ status }) => status === 'registered').length;
    await waitFor('the other rows', async () => (await registered()) === 2);
    await database.query('DROP FUNCTION refuse CASCADE');
    await database.query(
      `UPDATE campaigns SET lease_token = NULL, lease_until = NULL, due_at = now() - interval '1 ms' WHERE id = $1`,
      [body.id],
    );
    await waitFor(
      'the campaign is finished',
      async () => (await campaignStatus(database, body.id)) === 'finished',
    );
    expect(await registered()).toBe(18);
  });

  it('makes what contradicts our database a problem of its row, also in a dry run', async () => {
    const [first, second] = (await control.seed(2)) as [Existing, Existing];
    await adopt([rowOf(first)]);
    const [known, fresh] = [rowOf(first), rowOf(second)];
    const otherUser = { ...known, user: { ...known.user, id: randomUUID() } };
    const otherEan = {
      ...known,
      user: { id: first.userId, gridLocations: [{ id: first.gridLocationId, ean: newEan() }] },
    };
    const takenId = { ...fresh, tenantReference: 'taken', user: { ...fresh.user, id: first.userId } };
    const takenLocation = {
      ...fresh,
      user: { id: second.userId, gridLocations: [{ id: first.gridLocationId, ean: second.ean }] },
    };
    const sessionAsUser = {
      ...fresh,
      tenantReference: 'session',
      user: { ...fresh.user, id: first.sessionId },
    };
    const registration = (status: string, tenant_reference: string) =>
      insertRow(database.pool, 'registrations', { status, tenant_reference });
    await registration('uncertain', 'open');
    await registration('discarded', fresh.tenantReference);
    const cases: [object, string, string][] = [
      [otherUser, 'user.id', 'the reference is registered with another user'],
      [otherEan, 'user.gridLocations', 'the user has other grid locations in our database'],
      [takenId, 'user.id', 'the id belongs to another reference or object in our database'],
      [takenLocation, 'user.gridLocations[0].id', 'the id belongs to another user in our database'],
      [sessionAsUser, 'user.id', 'the id belongs to another reference or object in our database'],
      [
        { ...takenId, tenantReference: 'open' },
        'tenantReference',
        'the reference has an open registration: decide about it first',
      ],
    ];
    for (const [row, column, text] of cases) {
      const problem = { column, code: 'adopt_contradicts', message: `${column}: ${text}` };
      const { body } = await send([row, row], '&dryRun=true');
      expect(await rowsOf(service, body.id)).toMatchObject([
        { status: 'invalid', problems: [problem] },
        { status: 'invalid', problems: [{ code: 'duplicate_row' }] },
      ]);
      expect(await adopt([row])).toMatchObject([{ status: 'invalid', problems: [problem] }]);
    }
    expect((await client.call('GET', `/users/${second.userId}`)).status).toBe(404);
    const { body } = await send([fresh], '&dryRun=true');
    expect(reportOf(await rowsOf(service, body.id))).toEqual(['1 accepted']);
    expect(reportOf(await adopt([fresh]))).toEqual(['1 registered']);
  });

  it('adopts none of the users that have the id of another in the file, also in a dry run', async () => {
    const rows = (await control.seed(6)).map(rowOf) as [Row, Row, Row, Row, Row, Row];
    const [one, two, three, four, five, six] = rows;
    two.user = { id: one.user.id, gridLocations: [{ id: one.user.gridLocations[0]!.id, ean: newEan() }] };
    four.user.gridLocations[0]!.id = three.user.gridLocations[0]!.id.toUpperCase();
    five.user.id = six.user.gridLocations[0]!.id;
    const report = [
      '1 invalid user.id:adopt_contradicts(2)',
      '2 invalid user.id:adopt_contradicts(1)',
      '3 invalid user.gridLocations[0].id:adopt_contradicts(0,4)',
      '4 invalid user.gridLocations[0].id:adopt_contradicts(0,3)',
      '5 invalid user.id:adopt_contradicts(6)',
      '6 invalid user.gridLocations[0].id:adopt_contradicts(0,5)',
    ];
    const { body } = await send(rows, '&dryRun=true');
    expect(reportOf(await rowsOf(service, body.id))).toEqual(report);
    expect(reportOf(await adopt([...rows, rowOf(await seedOne())]))).toEqual([...report, '7 registered']);
    expect(reportOf(await adopt([one, one]))).toEqual(['1 registered', '2 invalid *:duplicate_row(1)']);
  });

  it('keeps the warnings of a row that repeats another', async () => {
    const { id } = await insertRow<{ id: string }>(database.pool, 'campaigns', { adopts: true });
    const warning = { column: 'ean', code: 'a_warning', message: 'a warning' };
    const row = {
      campaign_id: id,
      status: 'accepted',
      tenant_reference: 'repeated',
      adoption: {},
      metadata: {},
    };
    for (const line of [1, 2])
      await insertRow(database.pool, 'campaign_rows', { ...row, line, problems: JSON.stringify([warning]) });
    await database.query(MARK_REPEATED, [id]);
    const problems = await database.query<{ codes: string[] }>(
      `SELECT ARRAY(SELECT each ->> 'code' FROM jsonb_array_elements(problems) AS each) AS codes
       FROM campaign_rows WHERE campaign_id = $1 ORDER BY line`,
      [id],
    );
    expect(problems.map(({ codes }) => codes)).toEqual([['a_warning'], ['a_warning', 'duplicate_row']]);
    await database.query('DELETE FROM campaigns WHERE id = $1', [id]);
  });

  it('adopts no user whose id another user takes at the same time', async () => {
    const taken = await seedOne();
    let id = '';
    await database.transaction(async (tx) => {
      // The worker compares the row with the database, and then waits to insert its registration.
      await tx.query('LOCK TABLE registrations IN SHARE MODE');
      id = (await send([rowOf(taken)])).body.id;
      await waitFor('the row to be stored', async () => {
        const waiting = `SELECT FROM pg_locks WHERE relation = 'registrations'::regclass AND NOT granted`;
        return (await database.query(waiting)).length > 0;
      });
      const values = [taken.userId, randomUUID()];
      await tx.query(
        `INSERT INTO users (id, tenant_reference, tenant_name, first_name, last_name, email, metadata, created_at, updated_at)
         VALUES ($1, $2, '', '', '', '', '{}', now(), now())`,
        values,
      );
    });
    await waitFor(
      'the campaign is finished',
      async () => (await campaignStatus(database, id)) === 'finished',
    );
    expect(reportOf(await rowsOf(service, id))).toEqual(['1 invalid user.id:adopt_contradicts']);
  });

  it('keeps the current session of a location, and takes no session for that of another brand', async () => {
    const existing = await seedOne();
    await adopt([{ ...rowOf(existing), sessions: [] }]);
    const { body: current } = await client.start(existing.gridLocationId);
    expect(reportOf(await adopt([rowOf(existing)]))).toEqual(['1 known']);
    const superseded = [await client.session(existing.sessionId), await client.session(current.id)];
    expect(superseded.map(({ supersededAt }) => supersededAt)).toEqual([expect.any(String), null]);
    const sessions = [{ id: existing.sessionId, brand: 'acme' }];
    const message = 'The session belongs to another user, location or brand in our database';
    expect(await adopt([{ ...rowOf(existing), sessions }])).toMatchObject([{ problems: [{ message }] }]);
  });

  it('waits after a restore, and takes nothing of a worker that has lost its lease, or of a cancelled row', async () => {
    const store = service.app.get(AdoptionStore);
    const [token, late] = [randomUUID(), randomUUID()];
    const { id } = await insertRow<{ id: string }>(database.pool, 'campaigns', {
      ...{ adopts: true, status: 'running', lease_token: token, lease_until: tomorrow(), due_at: 'infinity' },
    });
    const { user, tenantReference } = rowOf(await seedOne());
    const adoption = { user: { ...user, tenantReference }, sessions: [] };
    const given = { campaign_id: id, line: 1, status: 'accepted', tenant_reference: tenantReference };
    await insertRow(database.pool, 'campaign_rows', {
      ...given,
      adoption: JSON.stringify(adoption),
      metadata: {},
    });
    const linesFor = async (lease: string) =>
      (await store.findNext(id, lease, 9, [])).map(({ line }) => line);
    const [row] = await store.findNext(id, token, 9, []);
    expect([await linesFor(late), await store.adoptUser(id, late, row!)]).toEqual([[], null]);
    await database.query('INSERT INTO restores (last_sequence, first_sequence) VALUES (0, 1)');
    expect(await store.adoptUser(id, token, row!)).toBeNull();
    await database.query('DELETE FROM restores');
    await database.query(`UPDATE campaigns SET status = 'paused' WHERE id = $1`, [id]);
    expect(await linesFor(token)).toEqual([]);
    await database.query(`UPDATE campaign_rows SET status = 'cancelled' WHERE campaign_id = $1`, [id]);
    expect(await store.adoptUser(id, token, row!)).toBeNull();
    expect(await store.end(id, row!, 'known', randomUUID(), [])).toBe(false);
    await database.query('DELETE FROM campaigns WHERE id = $1', [id]);
  });

  it('believes no session that is gone, of another user or unreadable, and keeps the user', async () => {
    const [one, other, broken] = (await control.seed(3)) as [Existing, Existing, Existing];
    await control.deleteSession(broken.sessionId);
    const rows = await adopt([
      {
        ...rowOf(one),
        sessions: [{ id: one.sessionId, brand: 'acme' }, { id: other.sessionId }, { id: randomUUID() }],
      },
      rowOf(broken),
    ]);
    expect(reportOf(rows)).toEqual([
      '1 registered sessions[1]:session_not_read sessions[2]:session_not_read',
      '2 registered sessions[0]:session_not_read',
    ]);
    expect(await client.session(one.sessionId)).toMatchObject({ brand: 'acme' });
    expect(await client.eventsOf(other.sessionId)).toEqual([]);
    const unreadable = await seedOne();
    await control.addFault({
      kind: 'answer',
      operation: 'read_session',
      contains: unreadable.sessionId,
      times: null,
      status: 200,
      body: '{}',
    });
    expect(reportOf(await adopt([rowOf(unreadable)]))).toEqual(['1 registered sessions[0]:session_not_read']);
    const reads = (await control.requests()).filter(({ path }) => path.includes(unreadable.sessionId));
    expect(reads).toHaveLength(3);
    await control.clearFaults();
    expect(reportOf(await adopt([rowOf(unreadable)]))).toEqual(['1 known']);
    expect(await client.eventsOf(unreadable.sessionId)).toEqual(['session.started']);
    const later = await seedOne();
    // A gateway in front of the remote service answers.
    const absence = { kind: 'answer', operation: 'read_session', status: 404, body: '<html>' } as const;
    await control.addFault({ ...absence, contains: later.sessionId, times: 1 });
    expect(reportOf(await adopt([rowOf(later)]))).toEqual(['1 registered']);
    expect(await client.eventsOf(later.sessionId)).toEqual(['session.started']);
  });

  it('adopts no user of which two lines differ, and warns of an EAN of another user', async () => {
    const rows = (await control.seed(5)).map(rowOf) as [Row, Row, Row, Row, Row];
    const [one, two, three, four, five] = rows;
    two.tenantReference = one.tenantReference;
    four.user.gridLocations[0]!.ean = three.user.gridLocations[0]!.ean;
    await adopt([five]);
    const later = { ...rowOf(await seedOne()), sessions: [] };
    later.user.gridLocations[0]!.ean = five.user.gridLocations[0]!.ean;
    const { body } = await send([one, two, one, three, four, later], '&dryRun=true');
    const warned = 'accepted user.gridLocations:ean_elsewhere';
    expect(reportOf(await rowsOf(service, body.id))).toEqual([
      ...[3, 1, 1].map((other, at) => `${at + 1} invalid tenantReference:adopt_contradicts(${other})`),
      ...[4, 5, 6].map((line) => `${line} ${warned}`),
    ]);
  });

  it('checks each file alone: other files with the same reference or id change nothing about its rows', async () => {
    const [own, other] = [rowOf(await seedOne()), rowOf(await seedOne())];
    const check = async (row: Row) => rowsOf(service, (await send([row], '&dryRun=true')).body.id);
    const alone = await check(own);
    for (const row of [
      { ...own, metadata: { from: 'other' } },
      { ...other, user: { ...other.user, id: own.user.id } },
    ])
      expect(reportOf(await check(row))).toEqual(['1 accepted']);
    expect(reportOf(alone)).toEqual(['1 accepted']);
    expect(await check(own)).toEqual(alone);
  });

  it.each([
    ['adopt', 'registrations:decide'],
    ['invite', 'onboarding:write'],
  ] as const)('and %s needs the scope %s too, whatever the body is', async (flag, scope) => {
    const sendWith = async (...scopes: Scope[]) => {
      const { key } = await createKey(client, ...scopes);
      const refused = await upload({ url: service.url, adminKey: key }, '', `${flag}=true&dryRun=true`);
      return [refused.status, refused.body.detail];
    };
    expect(await sendWith('users:write')).toEqual([403, `This needs a key with the scope ${scope}`]);
    expect(await sendWith('users:write', scope)).toEqual([400, 'The file is empty']);
  });

  it('names what is wrong with a row, and refuses CSV', async () => {
    const [existing] = await control.seed(1);
    const row = rowOf(existing!);
    const { body } = await send(
      [
        { ...row, user: { ...row.user, id: 'x', tenantReference: 'another' } },
        { ...row, user: { ...row.user, gridLocations: [{ id: existing!.gridLocationId, ean: '5' }] } },
        { ...row, user: { ...row.user, gridLocations: [] } },
        { ...row, sessions: [{ id: existing!.sessionId, gridLocationId: randomUUID() }] },
        { ...row, ean: existing!.ean },
        row,
        row,
      ],
      '&dryRun=true',
    );
    expect(reportOf(await rowsOf(service, body.id))).toEqual([
      '1 invalid user.id:adopt_invalid user.tenantReference:adopt_invalid',
      '2 invalid user.gridLocations[0].ean:adopt_invalid(0,18,1)',
      '3 invalid user.gridLocations:adopt_invalid(1,100)',
      '4 invalid sessions[0].gridLocationId:adopt_invalid(0)',
      '5 invalid *:json_invalid("ean")',
      '6 accepted',
      '7 invalid *:duplicate_row(6)',
    ]);
    const csv = await upload(service, `tenantReference,ean\na,${newEan()}`, 'adopt=true');
    expect(csv).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
  });

  it('invites the owner of each location, and is erased with its user', async () => {
    const existing = await seedOne();
    const second = { id: randomUUID(), ean: newEan() };
    const given = rowOf(existing);
    const user = { ...given.user, gridLocations: [...given.user.gridLocations, second] };
    const sessions = [{ id: existing.sessionId, gridLocationId: existing.gridLocationId }];
    const [row] = await adopt([{ ...given, user, sessions }], '&invite=true');
    const invited = await database.query<{ id: string }>(
      'SELECT grid_location_id AS id FROM invitations WHERE campaign_id IS NOT NULL',
    );
    expect(invited.map(({ id }) => id).sort()).toEqual([existing.gridLocationId, second.id].sort());
    expect(row!.invitationUrl).not.toBeNull();
    const [{ url }] = (await client.list(`/invitations?gridLocationId=${second.id}`)) as [{ url: string }];
    await fetch(`${url}/decline`, { method: 'POST', redirect: 'manual' });
    const again = await send([{ ...given, user, sessions }], '&dryRun=true');
    expect(reportOf(await rowsOf(service, again.body.id))).toEqual(['1 known *:owner_declined']);
    await service.app.get(ErasuresStore).eraseReference(existing.tenantReference, 'test');
    const stored = await database.query('SELECT adoption, fields FROM campaign_rows WHERE user_id = $1', [
      existing.userId,
    ]);
    expect(stored).toEqual(Array(2).fill({ adoption: null, fields: [] }));
    const later = await adopt([rowOf(existing)]);
    expect(reportOf(later)).toEqual(['1 invalid user.id:adopt_contradicts']);
  });
});

import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { ErasuresStore } from '../../../src/privacy/erasure/erasures.store.js';
import { Database } from '../../../src/platform/database/database.js';
import { DueWork } from '../../../src/platform/tasks/due-work.js';
import { RegistrationSender } from '../../../src/users/registration/send-registrations.service.js';
import { ANY_DUE } from '../../../src/users/registration/registrations.sql.js';
import { reportOf, rowsOf, upload } from '../../campaigns/campaign-client.js';
import type { CampaignView } from '../../../src/campaigns/campaign.view.js';
import { insertRow } from '../../db/valid-rows.js';
import { campaignStatus, insertCampaign, readRows } from '../../setup/campaign.js';
import { TestClient, type UserAnswer } from '../../setup/client.js';
import { CampaignsStore } from '../../../src/campaigns/campaigns.store.js';
import type { Page } from '../../../src/platform/http/page.js';
import { CAMPAIGNS_CHANNEL } from '../../../src/campaigns/drain/drain.sql.js';
import { CampaignDrain } from '../../../src/campaigns/drain/drain.service.js';
import { DrainStore } from '../../../src/campaigns/drain/drain.store.js';
import { newEan, newValidEan } from '../../setup/ean.js';
import type { SandboxControl } from '../../setup/sandbox/sandbox-control.js';
import { useTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { createKey } from '../keys.js';
import { withReplica } from '../replica.js';
import { waitUntilHeld } from '../../faults/support/waits.js';

const service = useTestApp({ SCS_TIMEOUT_MS: 50_000 });
const client = TestClient.of(service);
let database: Database;
let control: SandboxControl;

beforeAll(() => {
  database = service.database;
  control = service.sandbox!.control;
});
afterEach(async () => {
  jest.restoreAllMocks();
  await control.clearFaults();
});

const finished = (id: string) =>
  waitFor('the campaign is finished', async () => (await campaignStatus(database, id)) === 'finished');
const statusesOf = async (id: string) => (await readRows(database, id)).map(({ status }) => status);
const finishedEvents = async (id: string) =>
  (await client.events()).filter(({ type, subject }) => type === 'pv.campaign.finished.v1' && subject === id);
const register = (tenantReference: string, ean: string) =>
  client.call('POST', '/users', { tenantReference, gridLocations: [{ ean }] });

describe('a running campaign', () => {
  it('registers each reference once, with the EANs of all its rows and the metadata of its first', async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    const eans = [newEan(), newEan(), newEan()];
    const id = await insertCampaign(
      database,
      [
        { tenantReference: one, ean: eans[0]!, metadata: { from: 'first' } },
        { tenantReference: two, ean: eans[1]! },
        { tenantReference: one, ean: eans[2]!, metadata: { from: 'second' } },
      ],
      { name: 'Autumn' },
    );
    await finished(id);
    const rows = await readRows(database, id);
    expect(rows.map(({ status }) => status)).toEqual(['registered', 'registered', 'registered']);
    expect(rows[0]!.userId).toBe(rows[2]!.userId);
    const { body } = await client.call('GET', `/users/${rows[0]!.userId}`);
    expect(body).toMatchObject({ tenantReference: one, metadata: { from: 'first' } });
    const made = (await control.users()).filter(({ tenantReference }) => tenantReference === one);
    expect(made.map(({ gridLocations }) => gridLocations.map(({ ean }) => String(ean)))).toEqual([
      [eans[0], eans[2]],
    ]);
    expect(await finishedEvents(id)).toMatchObject([
      {
        data: {
          campaignId: id,
          name: 'Autumn',
          counts: { registered: 3, known: 0, invalid: 0, rejected: 0, uncertain: 0, cancelled: 0 },
        },
      },
    ]);
  });

  it('sends the other rows while one has no response', async () => {
    const hold = await control.addFault({ kind: 'hold', operation: 'register_user', times: 1 });
    const rows = Array.from({ length: 12 }, () => ({ tenantReference: randomUUID() }));
    const id = await insertCampaign(database, rows);
    await waitFor('all rows but one are registered', async () => {
      const open = (await statusesOf(id)).filter((status) => status !== 'registered');
      return open.join() === 'sent';
    });
    await control.release(hold.id);
    await finished(id);
  });

  it('has its registrations sent at once, without waiting until the sender next looks', async () => {
    const { wait } = DueWork.prototype;
    jest.spyOn(DueWork.prototype, 'wait').mockImplementation(function (this: DueWork, condition, ...rest) {
      return condition === ANY_DUE ? () => {} : wait.call(this, condition, ...rest);
    });
    const { wakeUp } = service.app.get(RegistrationSender);
    wakeUp.signal();
    try {
      await finished(await insertCampaign(database, [{ tenantReference: randomUUID() }]));
    } finally {
      jest.restoreAllMocks();
      wakeUp.signal();
    }
  });

  it('sends nothing for a reference that is registered: with the same EANs it is known, with others invalid', async () => {
    const [same, other] = [randomUUID(), randomUUID()];
    const ean = newEan();
    await register(same, ean);
    await register(other, newEan());
    const before = (await control.ledger()).users.length;
    const id = await insertCampaign(database, [{ tenantReference: same, ean }, { tenantReference: other }]);
    await finished(id);
    const rows = await readRows(database, id);
    expect(rows.map(({ status, problems }) => [status, problems.map(({ code }) => code)])).toEqual([
      ['known', []],
      ['invalid', ['reference_conflict']],
    ]);
    expect((await control.ledger()).users.length).toBe(before);
  });

  it('says why a row was rejected, and follows an uncertain row until a person has decided', async () => {
    await control.addFault({
      kind: 'answer',
      operation: 'register_user',
      times: 1,
      status: 422,
      body: '{"message":"quoted"}',
    });
    const refused = await insertCampaign(database, [{ tenantReference: randomUUID() }]);
    await finished(refused);
    expect(await readRows(database, refused)).toMatchObject([
      {
        status: 'rejected',
        problems: [{ code: 'registration_rejected', message: expect.stringMatching(/422(?!.*quoted)/) }],
      },
    ]);

    await control.addFault({ kind: 'reset', operation: 'register_user', effect: true, times: 1 });
    const tenantReference: string = randomUUID();
    const lost = await insertCampaign(database, [{ tenantReference }], { invites: true });
    await finished(lost);
    const [row] = await readRows(database, lost);
    expect(row).toMatchObject({ status: 'uncertain', problems: [{ code: 'registration_uncertain' }] });
    const user = (await control.users()).find((each) => each.tenantReference === tenantReference);
    await client.call('POST', `/registrations/${row!.registrationId}/resolve`, user);
    const settled = await waitFor('the row is settled', async () => {
      const [now] = await readRows(database, lost);
      return now!.invitationId !== null && now;
    });
    expect(settled).toMatchObject({ status: 'registered', userId: user!.id, problems: [] });
  });

  it('writes nothing into the rows of a campaign that was emptied', async () => {
    await control.addFault({ kind: 'reset', operation: 'register_user', times: 1 });
    const id = await insertCampaign(database, [{ tenantReference: randomUUID() }]);
    await finished(id);
    const [row] = await readRows(database, id);
    await database.query(`UPDATE campaigns SET cleared_at = now() WHERE id = $1`, [id]);
    await client.call('POST', `/registrations/${row!.registrationId}/discard`);
    expect(await new DrainStore(database).settleDecided()).toEqual([]);
    expect(await readRows(database, id)).toEqual([row]);
  });

  it('waits after a restore until its references are checked', async () => {
    await database.query('INSERT INTO restores (last_sequence, first_sequence) VALUES (0, 1)');
    const advance = jest.spyOn(service.app.get(DrainStore), 'advance');
    const id = await insertCampaign(database, [{ tenantReference: randomUUID() }]);
    await waitFor('two steps', () => advance.mock.calls.filter(([of]) => of === id).length > 1);
    expect(await statusesOf(id)).toEqual(['accepted']);
    await database.query('UPDATE restores SET references_checked_at = now()');
    await finished(id);
    expect(await statusesOf(id)).toEqual(['registered']);
  });

  it('invites the other owners while the database refuses an invitation, and ends once it does not', async () => {
    await database.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON invitations FOR EACH ROW WHEN ('refused' = ANY (new.brands)) EXECUTE FUNCTION refuse()`);
    const brands = ['refused', 'acme', 'sunward'];
    const rows = brands.map((brand) => ({ tenantReference: randomUUID(), brand }));
    const id = await insertCampaign(database, rows, { invites: true });
    const invited = async () =>
      (await readRows(database, id)).filter(({ invitationId }) => invitationId !== null).length;
    await waitFor('the other owners are invited', async () => (await invited()) === 2);
    expect(await campaignStatus(database, id)).toBe('running');
    await database.query('DROP FUNCTION refuse CASCADE');
    // Another worker claims the campaign: it waits for a minute.
    await database.query(
      `UPDATE campaigns SET lease_token = NULL, lease_until = NULL, due_at = now() - interval '1 ms' WHERE id = $1`,
      [id],
    );
    await finished(id);
    expect(await invited()).toBe(3);
  });

  it('invites the owner of each location, with the brands of its rows, also where the user was known', async () => {
    const [known, fresh] = [randomUUID(), randomUUID()];
    const [ean, other] = [newEan(), newEan()];
    await register(known, ean);
    const id = await insertCampaign(
      database,
      [
        {
          tenantReference: known,
          ean,
          brand: 'zeta',
          locale: 'fr',
          expectedInverters: 3,
          metadata: { a: 'b' },
        },
        { tenantReference: fresh, ean: other, brand: 'sunward' },
        { tenantReference: fresh, ean: other, brand: 'acme' },
        { tenantReference: fresh, ean: other },
        { tenantReference: fresh },
        { tenantReference: fresh, ean: other, brand: 'zeta', status: 'invalid' },
      ],
      { invites: true },
    );
    await finished(id);
    const invited = (await readRows(database, id)).map(({ invitationId }) => invitationId);
    expect(invited[1]).toBe(invited[2]);
    const items = await client.list<{ id: string; brands: string[] }>(`/invitations?campaignId=${id}`);
    const brandsOf = new Map(items.map((each) => [each.id, each.brands]));
    const both = ['sunward', 'acme'];
    expect(invited.map((each) => brandsOf.get(each!))).toEqual([['zeta'], both, both, both, [], undefined]);
    expect(brandsOf.size).toBe(3);
    const given = { locale: 'fr', expected: { inverters: 3 }, metadata: { a: 'b' } };
    expect(items.find((each) => each.id === invited[0])).toMatchObject({ ...given, returnUrl: null });
  });
});

describe('the control of a campaign', () => {
  const press = (id: string, what: string) => client.call('POST', `/campaigns/${id}/${what}`);

  /** Inserts a campaign. Its first registrations are in flight, and their responses are held, so that no further one is sent. */
  async function heldCampaign(count = 100) {
    const fault = await control.addFault({ kind: 'hold', operation: 'register_user', times: null });
    const id = await insertCampaign(
      database,
      Array.from({ length: count }, () => ({ tenantReference: randomUUID() })),
    );
    await waitUntilHeld(control, 1, fault.id);
    return { id, release: () => control.clearFaults() };
  }

  it('notifies the workers at once, as does a new campaign', async () => {
    const worker = new pg.Client(service.environment.DATABASE_URL);
    let notifications = 0;
    worker.on('notification', () => (notifications += 1));
    await worker.connect();
    await worker.query(`LISTEN ${CAMPAIGNS_CHANNEL}`);
    const wakes = jest.spyOn(service.app.get(CampaignDrain)['notified'], 'signal');
    const { body } = await upload(service, `tenantReference,ean\n${randomUUID()},${newValidEan()}`, '');
    await waitFor('a notification of the campaign', () => notifications === 1);
    await waitFor('the worker of this process to be woken', () => wakes.mock.calls.length > 0);
    await finished(body.id);
    const paused = await insertCampaign(database, [], { status: 'paused' });
    await press(paused, 'resume');
    await waitFor('a notification of the resume', () => notifications === 2);
    await worker.end();
  });

  it('pauses: what was sent gets its result, and nothing further is sent until it is resumed', async () => {
    const { id, release } = await heldCampaign();
    const paused = await press(id, 'pause');
    expect(paused).toMatchObject({
      status: 200,
      body: { id, status: 'paused', rows: 100, summary: { new: 100, known: 0 }, counts: { invalid: 0 } },
    });
    const { body } = await client.call('GET', `/campaigns/${id}`);
    expect(Object.keys(paused.body)).toEqual(Object.keys(body));
    expect(await press(id, 'pause')).toMatchObject({ status: 200, body: { status: 'paused' } });
    await release();
    await waitFor('all that was sent has a result', async () => !(await statusesOf(id)).includes('sent'));
    expect((await statusesOf(id)).filter((status) => status === 'accepted').length).toBeGreaterThan(0);
    expect(await press(id, 'resume')).toMatchObject({ status: 200, body: { status: 'running' } });
    await finished(id);
    expect(new Set(await statusesOf(id))).toEqual(new Set(['registered']));
    for (const what of ['pause', 'resume', 'cancel'])
      expect(await press(id, what)).toMatchObject({ status: 409, body: { code: 'campaign_conflict' } });
  });

  it('cancels: what was sent gets its result, and the rest is cancelled', async () => {
    const { id, release } = await heldCampaign();
    const taken = await statusesOf(id);
    // The rows are taken in their order.
    expect(taken).toEqual(taken.toSorted().toReversed());
    expect(await press(id, 'cancel')).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    await release();
    await waitFor('it is over', async () => (await campaignStatus(database, id)) === 'cancelled and over');
    const statuses = await statusesOf(id);
    expect(new Set(statuses)).toEqual(new Set(['registered', 'cancelled']));
    expect(await finishedEvents(id)).toMatchObject([
      { data: { counts: { cancelled: statuses.filter((status) => status === 'cancelled').length } } },
    ]);
    expect(await press(id, 'resume')).toMatchObject({ status: 409, body: { code: 'campaign_conflict' } });
    await database.query(`UPDATE campaigns SET due_at = now() - interval '1 ms' WHERE id = $1`, [id]);
    expect(await service.app.get(DrainStore).findDue()).not.toContain(id);
  });

  it.each([
    ['pauses', 'pause', 'accepted'],
    ['cancels', 'cancel', 'cancelled'],
  ] as const)(
    '%s: no registration is begun any more, though a worker had made it',
    async (_, what, status) => {
      await control.addFault({ kind: 'hold', operation: 'register_user', times: null });
      const rows = Array.from({ length: 100 }, () => ({ tenantReference: randomUUID() }));
      const id = await insertCampaign(database, rows);
      const begun = async () =>
        (await database.query(`SELECT FROM registrations WHERE campaign_id = $1 AND attempts > 0`, [id]))
          .length;
      const isMade = async () => (await statusesOf(id)).filter((each) => each === 'sent').length === 64;
      await waitFor(
        'as many are made as are made at once',
        async () => (await isMade()) && (await begun()) > 0,
      );
      expect((await press(id, what)).status).toBe(200);
      const sent = await begun();
      expect(sent).toBeLessThan(64);
      const statuses = await statusesOf(id);
      expect(statuses.filter((each) => each === status)).toHaveLength(100 - sent);
      expect(
        await database.query(`SELECT FROM registrations WHERE campaign_id = $1 AND attempts = 0`, [id]),
      ).toEqual([]);
      await control.clearFaults();
      await waitFor('all that was sent has a result', async () => !(await statusesOf(id)).includes('sent'));
      const references = new Set<string>(rows.map(({ tenantReference }) => tenantReference));
      const { users } = await control.ledger();
      expect(users.filter(({ tenantReference }) => references.has(tenantReference))).toHaveLength(sent);
      if (what === 'cancel') return;
      await press(id, 'resume');
      await finished(id);
      expect(new Set(await statusesOf(id))).toEqual(new Set(['registered']));
    },
  );

  it('cancels: a registration for which another campaign waits is sent all the same', async () => {
    const { id, release } = await heldCampaign();
    const unsent = async () =>
      database.query<{ reference: string; eans: string[] }>(
        `SELECT tenant_reference AS reference, eans FROM registrations WHERE campaign_id = $1 AND attempts = 0 ORDER BY 1 DESC`,
        [id],
      );
    await waitFor('some wait', async () => (await unsent()).length > 0);
    const [{ reference, eans }] = (await unsent()) as [{ reference: string; eans: string[] }];
    const other = await insertCampaign(database, [{ tenantReference: reference, ean: eans[0]! }]);
    await waitFor('the other waits', async () => (await statusesOf(other)).includes('sent'));
    await press(id, 'cancel');
    await release();
    await finished(other);
    expect(await statusesOf(other)).toEqual(['known']);
    await waitFor('it is over', async () => (await campaignStatus(database, id)) === 'cancelled and over');
    const row = (await readRows(database, id)).find(({ tenantReference }) => tenantReference === reference);
    expect(row!.status).toBe('registered');
  });

  it('deletes it with its rows once it has ended, and neither its users nor its registrations', async () => {
    const { id, release } = await heldCampaign();
    const remove = () => client.call('DELETE', `/campaigns/${id}`);
    const conflict = { status: 409, body: { code: 'campaign_conflict' } };
    expect(await remove()).toMatchObject(conflict);
    for (const what of ['pause', 'cancel']) {
      await press(id, what);
      expect(await remove()).toMatchObject(conflict);
    }
    await release();
    await waitFor('it is over', async () => (await campaignStatus(database, id)) === 'cancelled and over');
    const [row] = (await readRows(database, id)).filter(({ status }) => status === 'registered');
    expect((await remove()).status).toBe(204);
    expect(await readRows(database, id)).toEqual([]);
    expect((await client.call('GET', `/users/${row!.userId}`)).status).toBe(200);
    expect((await client.call('GET', `/registrations/${row!.registrationId}`)).status).toBe(200);
    expect((await remove()).status).toBe(404);
    const { body } = await client.call('GET', `/audit-log?targets=${id}&limit=1`);
    expect(body).toMatchObject({ items: [{ action: 'campaign.deleted', actor: 'environment' }] });
  });

  it('shows no rate of a worker that has died', async () => {
    // No worker takes up the campaign before it is read.
    jest.spyOn(service.app.get(DrainStore), 'findDue').mockResolvedValue([]);
    const id = await insertCampaign(database, [], { status: 'paused' });
    const rateUntil = async (lease: string) => {
      await database.query(
        `UPDATE campaigns SET status = 'running', per_second = 5, lease_token = gen_random_uuid(), due_at = 'infinity',
                lease_until = clock_timestamp() + $2::interval WHERE id = $1`,
        [id, lease],
      );
      return (await client.call<{ perSecond: number | null }>('GET', `/campaigns/${id}`)).body.perSecond;
    };
    expect(await rateUntil('1 hour')).toBe(5);
    expect(await rateUntil('-1 ms')).toBeNull();
  });

  it('counts its own rows by their status, problems and brands, and shows what a filter asks for', async () => {
    const insert = async (problems: object) => {
      const { id } = await insertRow<{ id: string }>(database.pool, 'campaigns', {
        ...{ status: 'checked', finished_at: 'now' },
      });
      const { id: sent } = await insertRow<{ id: string }>(database.pool, 'registrations', {
        status: 'uncertain',
      });
      // Line n + 1 has the brand n; the last four have one that is more frequent, and no brand.
      await database.query(
        `INSERT INTO campaign_rows (campaign_id, line, status, brand, problems, registration_id)
         SELECT $1, n + 1, (ARRAY['accepted', 'sent', 'sent', 'known', 'invalid'])[1 + n % 5],
                CASE WHEN n <= 50 THEN 'b' || lpad(n::text, 2, '0') WHEN n < 54 THEN 'x' END,
                CASE WHEN n % 5 = 4 THEN $2::jsonb ELSE '[]' END, CASE WHEN n % 5 IN (1, 2, 3) THEN $3::uuid END
           FROM generate_series(1, 54) AS n`,
        [id, JSON.stringify(problems), sent],
      );
      return id;
    };
    const problem = (code: string, column: string | null = null) => ({ code, column, message: 'm' });
    await insert([problem('required')]);
    const id = await insert([
      problem('ean_length', 'ean'),
      problem('ean_length', 'ean2'),
      problem('brand_alike'),
    ]);
    const { body } = await client.call<CampaignView>('GET', `/campaigns/${id}`);
    expect(body).toMatchObject({
      counts: {
        accepted: 32,
        known: 11,
        invalid: 11,
        registered: 0,
        rejected: 0,
        uncertain: 0,
        cancelled: 0,
      },
      problems: { ean_length: 11, brand_alike: 11 },
    });
    const brands = Array.from({ length: 49 }, (_, at) => ({
      brand: `b${String(at + 1).padStart(2, '0')}`,
      rows: 1,
    }));
    expect(body.brands).toEqual([{ brand: 'x', rows: 3 }, ...brands]);
    const linesOf = async (query: string) => (await rowsOf(service, id, `&${query}`)).map(({ line }) => line);
    const linesWhere = (isShown: (nth: number) => boolean) =>
      Array.from({ length: 54 }, (_, at) => at + 1).flatMap((nth) => (isShown(nth) ? [nth + 1] : []));
    expect(await linesOf('status=accepted')).toEqual(linesWhere((nth) => nth % 5 < 3));
    for (const query of ['status=invalid', 'problem=brand_alike', 'problem=ean_length&status=invalid'])
      expect(await linesOf(query)).toEqual(linesWhere((nth) => nth % 5 === 4));
    for (const query of ['problem=brand_alike&status=known', 'problem=required', 'status=registered'])
      expect(await linesOf(query)).toEqual([]);
  });

  it('is that of retention once a campaign has been paused for long', async () => {
    const [old, recent] = await Promise.all(
      [11, 9].map(async (days) => {
        const id = await insertCampaign(database, [{ tenantReference: randomUUID() }], { status: 'paused' });
        const since = `UPDATE campaigns SET paused_at = now() - $2 * interval '1 day' WHERE id = $1`;
        await database.query(since, [id, days]);
        return id;
      }),
    );
    await new DrainStore(database).cancelForgotten(10);
    await waitFor('it is over', async () => (await campaignStatus(database, old!)) === 'cancelled and over');
    expect(await statusesOf(old!)).toEqual(['cancelled']);
    expect(await campaignStatus(database, recent!)).toBe('paused');
    const audit = `SELECT actor, action FROM audit_log WHERE target = $1`;
    expect(await database.query(audit, [old])).toEqual([
      { actor: 'retention', action: 'campaign.cancelled' },
    ]);
    await press(recent!, 'resume');
    await finished(recent!);
  });

  it('knows no campaign that is being received, and no other id', async () => {
    const receiving = await insertCampaign(database, [], { status: 'receiving' });
    for (const id of [receiving, randomUUID()]) expect((await press(id, 'cancel')).status).toBe(404);
    const listed = await client.list<{ id: string }>('/campaigns');
    expect(listed.map(({ id }) => id)).not.toContain(receiving);
  });
});

describe('the erasure of a person', () => {
  it('empties its rows and registers nobody for them, also before the person has a registration', async () => {
    const tenantReference = randomUUID();
    const rows = [{ tenantReference, metadata: { note: 'Kerkstraat 12' } }];
    const paused = await insertCampaign(database, rows, { status: 'paused' });
    expect(
      (await database.query('SELECT FROM registrations WHERE tenant_reference = $1', [tenantReference]))
        .length,
    ).toBe(0);
    await control.addFault({ kind: 'reset', operation: 'register_user', times: 1 });
    const uncertain = [{ ...rows[0]!, tenantReference: randomUUID() }];
    const lost = await insertCampaign(database, uncertain);
    await finished(lost);
    expect(await statusesOf(lost)).toEqual(['uncertain']);
    const erasures = service.app.get(ErasuresStore);
    await erasures.eraseReference(uncertain[0]!.tenantReference, 'test');
    expect(await statusesOf(lost)).toEqual(['cancelled']);
    const receipt = await erasures.eraseReference(tenantReference, 'test');
    expect(receipt).toMatchObject({ userId: null, erased: { registrations: 0 } });
    await client.call('POST', `/campaigns/${paused}/resume`);
    await finished(paused);
    const dump = await database.query<{ row: string }>('SELECT r::text AS row FROM campaign_rows r');
    expect(dump.filter(({ row }) => row.includes(tenantReference) || row.includes('Kerkstraat'))).toEqual([]);
    expect(await statusesOf(paused)).toEqual(['cancelled']);
  });

  it('empties the invalid rows that have its EAN without a reference, or in the place of one, but none of another person', async () => {
    const [tenantReference, ean] = [randomUUID(), newValidEan()];
    await register(tenantReference, ean);
    const other = `other-${tenantReference}`;
    const file = [
      'tenantReference,ean,metadata.note',
      `,${ean},Anna de Vries`,
      `${ean},${tenantReference},Anna de Vries`,
      `,${tenantReference},Anna de Vries`,
      `${other},12${ean},Bert`,
      `${other}2,${ean},Carla,too many cells`,
    ].join('\n');
    for (const dryRun of [true, false]) {
      const { body } = await upload(service, file, `dryRun=${dryRun}`);
      if (!dryRun) await finished(body.id);
      expect((await rowsOf(service, body.id)).map(({ status }) => status)).toEqual(Array(5).fill('invalid'));
    }
    await service.app.get(ErasuresStore).eraseReference(tenantReference, 'test');
    const rows = await database.query<{ row: string }>(
      `SELECT r::text AS row FROM campaign_rows r WHERE r::text LIKE ANY (ARRAY['%Anna%', '%Bert%', '%Carla%'])`,
    );
    expect(rows.map(({ row }) => /Anna|Bert|Carla/.exec(row)![0]).sort()).toEqual([
      'Bert',
      'Bert',
      'Carla',
      'Carla',
    ]);
  });

  it('is told to whoever uploads its reference again, until it is registered', async () => {
    const name = randomUUID();
    const tenantReference = `Müller ${name}`;
    const ean = newEan();
    await register(tenantReference, ean);
    await service.app.get(ErasuresStore).eraseReference(tenantReference, 'test');
    const file = `tenantReference,ean\n${tenantReference},${ean}\nMu\u0308LLER  ${name},${ean}\nMuller ${name},${newValidEan()}`;
    const erasedLines = async (isDryRun: boolean, at: Pick<TestApp, 'url' | 'adminKey'> = service) => {
      const { body } = await upload(at, file, `dryRun=${isDryRun}`);
      const rows = await rowsOf(service, body.id);
      if (!isDryRun) await finished(body.id);
      return rows.flatMap(({ line, problems }) =>
        problems.filter(({ code }) => code === 'reference_erased').map(({ column }) => [line, column]),
      );
    };
    const both = [2, 3].map((line) => [line, 'tenantReference']);
    // A registration that has ended since hides no erasure.
    await insertRow(database.pool, 'registrations', {
      tenant_reference: tenantReference,
      status: 'discarded',
    });
    expect(await erasedLines(true)).toEqual(both);
    // References are hashed 500 at a time.
    const others = Array.from({ length: 500 }, () => `${randomUUID()},${newValidEan()}\n`);
    const { body: long } = await upload(service, file.replace('\n', `\n${others.join('')}`));
    expect(long.problems).toMatchObject({ reference_erased: 2 });
    // Also once another key encrypts: the hash of an erased reference stays under the key of its time.
    const ENCRYPTION_KEYS = [
      Buffer.alloc(32, 'later').toString('base64'),
      ...service.environment.ENCRYPTION_KEYS,
    ];
    const later = { ROLE: 'api', ENCRYPTION_KEYS } as const;
    expect(await withReplica(service, later, (replica) => erasedLines(true, replica))).toEqual(both);
    expect(await erasedLines(false)).toEqual(both);
    for (const isDryRun of [true, false]) expect(await erasedLines(isDryRun)).toEqual([]);
  });
});

async function resultOf(id: string, key = client.key): Promise<{ text: string; headers: Headers }> {
  const response = await fetch(`${service.url}/api/v1/campaigns/${id}/result.csv`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { text: bytes.toString(), headers: response.headers };
}

describe('an owner who has declined', () => {
  it('is a warning of an upload that has the customer again, until the tenant has invited again', async () => {
    const [tenantReference, ean, another] = [randomUUID(), newValidEan(), newValidEan()];
    const gridLocations = [{ ean }, { ean: another }];
    const { body: user } = await client.call<UserAnswer>('POST', '/users', {
      tenantReference,
      gridLocations,
    });
    const gridLocationId = user.gridLocations.find((each) => each.ean === ean)!.id;
    const inviteAgain = async () =>
      (await client.call<{ url: string }>('POST', '/invitations', { gridLocationId })).body.url;
    const declined = async () => {
      const file = `tenantReference,ean\n${tenantReference},${ean}\n${tenantReference},${another}`;
      const { body } = await upload(service, file, 'dryRun=true');
      const rows = reportOf(await rowsOf(service, body.id));
      expect(rows[1]).toBe('3 known');
      return rows[0] === '2 known *:owner_declined';
    };
    const url = await inviteAgain();
    expect(await declined()).toBe(false);
    await fetch(`${url}/decline`, { method: 'POST', redirect: 'manual' });
    expect(await declined()).toBe(true);
    const next = await inviteAgain();
    expect(await declined()).toBe(false);
    await fetch(next, { method: 'POST', redirect: 'manual' });
    await service.database.query(`UPDATE invitations SET expires_at = now() - interval '1 ms'`);
    await fetch(`${next}/withdrawal`, { method: 'POST', redirect: 'manual' });
    expect(await declined()).toBe(true);
  });
});

describe('the downloads of a key', () => {
  it('are at most two at once', async () => {
    const { body } = await upload(service, `tenantReference,ean\n${randomUUID()},${newValidEan()}`);
    let end = (): void => {};
    const unread = new Promise<Page<never>>((resolve) => (end = () => resolve({ items: [], next: null })));
    const rows = jest.spyOn(service.app.get(CampaignsStore), 'rows').mockReturnValue(unread);
    const download = (key: string) =>
      fetch(`${service.url}/api/v1/campaigns/${body.id}/result.csv`, {
        headers: { authorization: `Bearer ${key}` },
      });
    const open = [await download(client.key), await download(client.key)];
    const refused = await download(client.key);
    expect([refused.status, await refused.json()]).toMatchObject([429, { code: 'too_many_requests' }]);
    const { app: other } = await createKey(client, 'users:read');
    open.push(await download(other.key));
    expect(open.map(({ status }) => status)).toEqual([200, 200, 200]);
    rows.mockRestore();
    end();
    await Promise.all(open.map((each) => each.text()));
    expect((await resultOf(body.id)).text).toContain('accepted');
  });
});

describe('result.csv', () => {
  const [ean, wrong] = [newValidEan(), '5,41449E+17'];
  const file = `Reference;EAN;metadata.note\r\n=1+1;${ean};"a;""b"""\r\n-2;${wrong};@x\r\n007;;\r\n`.replace(
    'Reference',
    'Tenant reference',
  );

  it('has the columns as sent and what became of each row, safe for a spreadsheet', async () => {
    const { body } = await upload(service, file);
    const { text, headers } = await resultOf(body.id);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toBe(`attachment; filename="campaign-${body.id}.csv"`);
    const rounded = (await rowsOf(service, body.id))[1]!.problems[0]!.message;
    expect(text.split('\r\n')).toEqual([
      '\ufeffTenant reference;EAN;metadata.note;status;problems;registrationId;userId;invitationUrl',
      `'=1+1;"=""${ean}""";"a;""b""";accepted;;;;`,
      `'-2;"=""${wrong}""";'@x;invalid;EAN: ${rounded};;;`,
      '"=""007""";;;invalid;EAN: The EAN is missing;;;',
      '',
    ]);
  });

  it('does not look whole if the campaign is deleted during the download', async () => {
    const { body } = await upload(service, file, 'dryRun=true');
    const store = service.app.get(CampaignsStore);
    const read = store.rows.bind(store);
    const rows = jest.spyOn(store, 'rows').mockImplementation(async (id, query) => {
      const page = await read(id, query);
      if (page.items.length > 0) await client.call('DELETE', `/campaigns/${id}`);
      return page;
    });
    await expect(resultOf(body.id)).rejects.toThrow('terminated');
    rows.mockRestore();
  });

  it('can be uploaded again, and means the same', async () => {
    const first = await upload(service, file);
    const { text } = await resultOf(first.body.id);
    const second = await upload(service, text);
    const meaning = async (id: string) =>
      (await rowsOf(service, id)).map(({ tenantReference, ean: each, problems }) => [
        tenantReference,
        each,
        problems,
      ]);
    expect(await meaning(second.body.id)).toEqual(await meaning(first.body.id));
    expect(second.body.format.columns).toEqual(first.body.format.columns);
  });

  it('has all cells of a row with more than the header, so that it is refused again', async () => {
    const { body } = await upload(service, `ean,tenantReference\n${ean},Jansen, Piet\n`);
    const { text } = await resultOf(body.id);
    expect(text.split('\r\n')[1]).toMatch(/^"=""\d{18}""",Jansen,invalid,.*,,,, Piet$/);
    const again = await upload(service, text);
    expect(reportOf(await rowsOf(service, again.body.id))).toEqual(['2 invalid *:too_many_cells(8,7)']);
    expect((await resultOf(again.body.id)).text).toContain(', Piet');
  });

  it('has the links of invitations for keys with links:read only', async () => {
    const gridLocationId = await client.locate();
    const invitation = await client.call<{ id: string; url: string }>('POST', '/invitations', {
      gridLocationId,
    });
    const { body } = await upload(service, file);
    await database.query('UPDATE campaign_rows SET invitation_id = $2 WHERE campaign_id = $1 AND line = 2', [
      body.id,
      invitation.body.id,
    ]);
    const { url } = invitation.body;
    const { app: reader } = await createKey(client, 'users:read');
    const { app: linked } = await createKey(client, 'users:read', 'links:read');
    expect((await resultOf(body.id, linked.key)).text).toContain(url);
    expect((await resultOf(body.id, reader.key)).text).not.toContain(url);
    const linksFor = async (key: TestClient) =>
      (await key.list<{ invitationUrl: string | null }>(`/campaigns/${body.id}/rows`)).map(
        ({ invitationUrl }) => invitationUrl,
      );
    expect(await linksFor(linked)).toEqual([url, null, null]);
    expect(await linksFor(reader)).toEqual([null, null, null]);
  });

  it('of NDJSON is separated by semicolons', async () => {
    const file = `{"tenantReference":"1E5","ean":"${ean}"}`;
    const { body } = await upload(service, file, 'dryRun=true', { 'content-type': 'application/x-ndjson' });
    const [, line] = (await resultOf(body.id)).text.split('\r\n');
    expect(line).toBe(`"=""1E5""";"=""${ean}""";;;;;;accepted;;;;`);
  });

  it('is complete beyond a page of rows', async () => {
    const rows = Array.from({ length: 2_500 }, (_, at) => `P-${at},${newValidEan()}`);
    const { body } = await upload(service, ['tenantReference,ean', ...rows].join('\n'));
    const lines = (await resultOf(body.id)).text.trimEnd().split('\r\n');
    expect(lines).toHaveLength(2_501);
    expect(lines[2_500]).toMatch(/^P-2499,/);
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readPage } from '../../docs/pages.js';
import { TestClient, type UserAnswer } from '../../setup/client.js';
import { newEan } from '../../setup/ean.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { connectAsReader, type Reader } from '../reader.js';
import { inTime } from '../../faults/support/promise.js';

type Row = Readonly<Record<string, unknown>>;

describe('what administrators see of a service at work', () => {
  let service: TestApp;
  let client: TestClient;
  let reader: Reader;

  beforeAll(async () => {
    service = await startTestApp();
    client = TestClient.of(service);
    reader = await connectAsReader(service.environment.DATABASE_URL);
  });
  afterAll(async () => {
    await reader.close();
    await service.close();
  });
  afterEach(() => service.sandbox!.control.clearFaults());

  const query = async (sql: string, ...values: readonly unknown[]): Promise<readonly Row[]> =>
    (await reader.client.query<Row>(sql, [...values])).rows;
  const session = async (id: string): Promise<Row> =>
    (await query('SELECT * FROM admin.sessions WHERE session_id = $1', id))[0]!;
  const waitForState = (id: string, state: string) =>
    waitFor(`session ${id} is ${state}`, async () => (await session(id)).state === state);

  it('is the whole history of a session, each cause before its effect', async () => {
    const { sandbox } = service;
    const location = await client.locate('customer-7');
    await sandbox!.control.addFault({ kind: 'reset', operation: 'start_session', effect: true, times: 1 });
    const { id } = (await client.start(location, { brand: 'acme' })).body;
    await waitFor('the first read', async () => {
      const observations = await query('SELECT FROM admin.session_observations WHERE session_id = $1', id);
      return observations.length === 2;
    });
    await sandbox!.control.complete(id);
    await waitForState(id, 'awaiting_installation');
    await sandbox!.control.fields(id, { set: { finished: true, active: true, surprise: 'a\u0000b' } });
    await waitForState(id, 'unrecognised');
    const inverters = [{ id: randomUUID() }, { id: randomUUID() }];
    await sandbox!.control.fields(id, { set: { finished: true, active: false, inverters } });
    await waitForState(id, 'online');

    const timeline = await query(
      'SELECT kind, summary, details FROM admin.session_timeline WHERE session_id = $1 ORDER BY at, step, number',
      id,
    );
    const read = (flags: string) => `observation: read returned 200: ${flags}`;
    expect(timeline.map(({ kind, summary }) => `${String(kind)}: ${String(summary)}`)).toEqual([
      'start: start requested; sent 2 times, 1 of them without a readable response',
      expect.stringMatching(
        /^observation: start returned 20\d: finished=false active=true expired=absent inverters=absent$/,
      ),
      'transition: new -> awaiting_owner (observed, by the rule as_started)',
      'event: announced session.started',
      // This read is stored, because it has fields that the response to the start lacked.
      read('finished=false active=true expired=false inverters=0'),
      read('finished=false active=true expired=false inverters=0'),
      'transition: awaiting_owner -> awaiting_installation (inferred, by the rule updated_since_start)',
      'event: announced session.awaiting_installation',
      read('finished=true active=true expired=false inverters=0'),
      'transition: awaiting_installation -> unrecognised (observed, by the rule undescribed_flags)',
      'event: announced session.unrecognised',
      read('finished=true active=false expired=false inverters=2'),
      'transition: unrecognised -> online (observed, by the rule finished_with_inverters)',
      'event: announced session.online',
      'event: announced inverter.online',
      'event: announced inverter.online',
    ]);
    expect(timeline.slice(-2)).toEqual(
      inverters.map(({ id: inverter_id }) =>
        expect.objectContaining({ details: expect.objectContaining({ inverter_id }) }),
      ),
    );
    const [start] = await query('SELECT * FROM admin.session_starts WHERE session_id = $1', id);
    expect(start).toMatchObject({
      tenant_reference: 'customer-7',
      status: 'started',
      attempts: 2,
      orphans: 1,
    });
    const [unrecognised] = await query(
      `SELECT answer FROM admin.session_observations WHERE session_id = $1 AND led_to = 'unrecognised'`,
      id,
    );
    expect(unrecognised).toMatchObject({ answer: { surprise: 'a\ufffdb', sessionId: id } });
  });

  it('is a customer, its registration, the token and the lag of the poller', async () => {
    const location = await client.locate('customer-8');
    const [user] = await query(`SELECT * FROM admin.users WHERE tenant_reference = 'customer-8'`);
    const [registration] = await query(
      `SELECT * FROM admin.registrations WHERE tenant_reference = 'customer-8'`,
    );
    expect(registration).toMatchObject({
      status: 'registered',
      user_id: user?.user_id,
      attempts: 1,
      being_sent: false,
    });
    const { body } = await client.start(location);
    expect((await session(body.id)).ean).toBe((user?.eans as string[])[0]);
    expect(await query('SELECT * FROM admin.remote_tokens')).toEqual([
      expect.objectContaining({ name: 'tenant', present: true, rejected_at: null, failures: 0 }),
    ]);
    const [lag] = await query(`SELECT * FROM admin.poll_lag WHERE phase = 'all'`);
    expect(Number(lag?.watched)).toBeGreaterThan(0);
    expect(Number(lag?.overdue_seconds_max)).toBeLessThan(inTime(10));
    expect(lag?.expired_leases).toBe('0');
  });

  it('answers every question of docs/sql.md, from views that the page lists, and that of docs/operations.md', async () => {
    const page = await readPage('docs/sql.md');
    const [head = '', ...sections] = page.split(/^#{2,3} /m);
    const questions = sections.flatMap((section) => [...section.matchAll(/^```sql\n(.*?)^```/gms)]);
    expect(questions.length).toBeGreaterThan(5);
    const ofOperations = (await readPage('docs/operations.md')).matchAll(/^```sql\n(.*?)^```/gms);
    for (const [, sql = ''] of [...questions, ...ofOperations]) await query(sql);
    const listed = (head.match(/^- .*$/gm) ?? []).flatMap((line) => line.match(/(?<=`)[a-z_]+(?=`)/g) ?? []);
    const views = await query(`SELECT viewname FROM pg_views WHERE schemaname = 'admin' ORDER BY 1`);
    expect(listed.sort()).toEqual(views.map(({ viewname }) => viewname));
  });

  it('has personal data in admin.users only', async () => {
    const user = {
      tenantReference: 'customer-9',
      metadata: { note: 'canary' },
      gridLocations: [{ ean: newEan() }],
    };
    const { body } = await client.call<UserAnswer>('POST', '/users', user);
    const { id, startUrl } = (await client.start(body.gridLocations[0]!.id)).body;
    await waitForState(id, 'awaiting_owner');
    const views = await query(`SELECT viewname AS name FROM pg_views WHERE schemaname = 'admin'`);
    const telling: unknown[] = [];
    for (const { name } of views) {
      const text = JSON.stringify(await query(`SELECT * FROM admin.${String(name)}`));
      if (text.includes('canary') || text.includes(startUrl!)) telling.push(name);
    }
    expect(telling).toEqual(['users']);
  });
});

import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { type BeingSent, ErasuresStore } from '../../../src/privacy/erasure/erasures.store.js';
import { toReceipt } from '../../../src/privacy/erasure/receipt.view.js';
import { ExportStore } from '../../../src/privacy/export/export.store.js';
import { ERASE_REQUEST_IDS } from '../../../src/access/audit-log.store.js';
import { FIND_IDS, PERSONAL_DATA } from '../../../src/privacy/personal-data.js';
import { keyOf } from '../../../src/platform/database/personal-data.js';
import { ERASE_ACTIONS } from '../../../src/bulk/bulk-actions.sql.js';
import { ERASE_ROWS } from '../../../src/campaigns/erase-rows.sql.js';
import { ERASE_WEBHOOK_RESPONSES } from '../../../src/delivery/erase-responses.sql.js';
import { ERASE_EVENTS } from '../../../src/events/erase-events.sql.js';
import type { DomainEvent } from '../../../src/events/catalogue.rules.js';
import { OnEvent } from '../../../src/handlers/on-event.js';
import {
  DELETE_INVERTERS,
  DELETE_OBSERVATIONS,
  ERASE_SESSIONS,
  ERASE_STARTS,
} from '../../../src/onboarding/store/erase-sessions.sql.js';
import { STOP_POLLS } from '../../../src/onboarding/poll/polls.sql.js';
import { PRUNE_SESSIONS, PRUNE_STARTS } from '../../../src/privacy/retention/retention.sql.js';
import { BEGIN_START, LOCK_START } from '../../../src/onboarding/start/starts.sql.js';
import { ERASED } from '../../../src/onboarding/rules/start-failure.rules.js';
import { Cipher } from '../../../src/platform/crypto/cipher.js';
import { Database, type Statement, type Transaction } from '../../../src/platform/database/database.js';
import { insertRow } from '../../db/valid-rows.js';
import { TestClient, type SessionAnswer, type UserAnswer } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../setup/receivers/webhook-receiver.js';
import {
  countPolls,
  createCanaryPerson,
  placesOf,
  PLACES_OF_A_PERSON,
  type CanaryPerson,
} from '../support/input/canary-person.js';
import { changeStatement } from '../support/changed-statement.js';
import { itAtLength, promise } from '../support/promise.js';
import { dumpTables, dumpThrough, findSecrets } from '../support/input/secret-search.js';
import { readSessionRecords } from '../support/evidence/session-records.js';
import { waitUntilHeld } from '../support/waits.js';

type Online = DomainEvent<'session.online'>;

/** The worst handler: fails while an event names a person, and repeats the name in its error. */
@Injectable()
class Indiscreet {
  readonly held = new Map<string, Promise<void>>();
  readonly begun = new Set<string>();

  @OnEvent('session.online')
  async greet({ subject, data }: Online): Promise<void> {
    this.begun.add(subject);
    await this.held.get(subject);
    if (data.tenantReference !== null) throw new Error(`nobody greets ${data.tenantReference}`);
  }
}

@Module({ providers: [Indiscreet] })
class HandlersModule {}

let service: TestApp;
let client: TestClient;
let database: Database;
let erasures: ErasuresStore;

async function start(prepare: (service: TestApp['app']) => void = () => {}): Promise<void> {
  service = await startTestApp({ LOG_LEVEL: 'error' }, { modules: [HandlersModule], prepare });
  client = TestClient.of(service);
  database = service.database;
  erasures = service.app.get(ErasuresStore);
}

const erase = (userId: string) => client.call('DELETE', `/users/${userId}`);

/** Returns Prisma Client without the operation `leftOut`, such as `user.updateMany`. */
const withoutOperation = (prisma: Transaction['prisma'], leftOut: unknown): Transaction['prisma'] =>
  new Proxy(prisma, {
    get: (models, model: string) =>
      new Proxy(Reflect.get(models, model) as object, {
        get: (operations, operation: string) =>
          leftOut === `${model}.${operation}`
            ? async () => ({ count: 0 })
            : (Reflect.get(operations, operation) as unknown),
      }),
  });

const waitForEndOfReads = () =>
  waitFor(
    'nothing is being read',
    async () => (await database.query('SELECT FROM poll_batches')).length === 0,
  );

describe('R38: erasure is complete', () => {
  let bystander: SessionAnswer;
  let person: CanaryPerson;
  let other: CanaryPerson;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    await start();
    receiver = await startWebhookReceiver();
    // The worst receiver: it fails, and its response repeats the event.
    receiver.answer = ({ body }) => ({ status: 500, body });
    await client.call('POST', '/webhook-endpoints', { url: receiver.url });
    bystander = await client.startNew({ metadata: { kept: true } });
    person = await createCanaryPerson(service, client);
    other = await createCanaryPerson(service, client);
    // An export reads 500 rows at a time.
    await database.query(
      `INSERT INTO session_observations (session_id, source, http_status, hash)
       SELECT $1, 'read', 404, '' FROM generate_series(1, 1000)`,
      [person.sessionIds[0]],
    );
    await waitFor(
      'a handler has failed',
      async () => (await database.query('SELECT FROM admin.event_deliveries WHERE attempts > 0')).length > 0,
    );
    await waitFor('a read has failed and a receiver has quoted an event', async () => {
      const places = await placesOf(person, service);
      return places.includes('session_polls') && places.includes('webhook_deliveries');
    });
    await database.query(
      `UPDATE webhook_deliveries SET previous_attempts = jsonb_build_array(jsonb_build_object('answer', last_answer))
       WHERE last_answer IS NOT NULL`,
    );
  });
  afterAll(async () => {
    await service.close();
    await receiver.close();
  });

  /** Erases the person without the statement or Prisma operation `leftOut`, and rolls back. Returns the personal data that remained. */
  async function rehearse(
    leftOut?: string | Statement,
    prepare: (tx: Transaction) => Promise<unknown> = async () => {},
    parts = PERSONAL_DATA,
    // The last WHERE: earlier ones belong to subqueries.
    condition = /WHERE(?!.*WHERE)/s,
  ): Promise<string[]> {
    let found: string[] = [];
    let watched = 0;
    const choose = (statement: string | Statement) => {
      if (statement !== leftOut) return statement;
      const text = typeof statement === 'string' ? statement : statement.text;
      return text.replace(condition, '$& false AND');
    };
    const rehearsal = Object.assign(Object.create(database) as Database, {
      transaction: (work: (tx: Transaction) => Promise<unknown>) =>
        database.transaction(async (tx) => {
          await prepare(tx);
          const query: Transaction['query'] = (statement, values) => tx.query(choose(statement), values);
          await work({ ...tx, query, prisma: withoutOperation(tx.prisma, leftOut) });
          found = findSecrets(person.secrets, await dumpThrough((statement) => tx.query(statement)));
          watched = await countPolls(tx, person.sessionIds);
          throw new Error('rolled back');
        }),
    });
    const store = Object.assign(new ErasuresStore(rehearsal, service.app.get(Cipher)), { parts });
    await expect(store.eraseUser(person.userId, 'test')).rejects.toThrow('rolled back');
    return watched === 0 ? found : [...found, 'watched'];
  }

  it('for a person with data in every table that may contain personal data', async () => {
    expect(await placesOf(person, service)).toEqual(PLACES_OF_A_PERSON);
    expect(await rehearse()).toEqual([]);
  });

  const WITHOUT: readonly (readonly [string, string | Statement])[] = [
    ...Object.entries({
      ERASE_EVENTS,
      ERASE_ACTIONS,
      ERASE_REQUEST_IDS,
      ERASE_ROWS,
      ERASE_WEBHOOK_RESPONSES,
      ERASE_STARTS,
      ERASE_SESSIONS,
      STOP_POLLS,
      DELETE_OBSERVATIONS,
      DELETE_INVERTERS,
    }),
    ...['registration.deleteMany', 'user.updateMany', 'gridLocation.updateMany'].map(
      (operation) => [operation, operation] as const,
    ),
  ];
  for (const [name, statement] of WITHOUT)
    itAtLength(`turns red without ${name}`, async () => {
      expect((await rehearse(statement)).length).toBeGreaterThan(0);
    });

  /** Exports the person. Returns the personal data that only the database has, by table, and the whole document. */
  async function exportPerson(parts = PERSONAL_DATA) {
    // Before the export, since a receiver may quote an event at any time.
    const inDatabase = findSecrets(person.secrets, await dumpTables(service.environment.DATABASE_URL));
    const store = service.app.get(ExportStore);
    const found = await store.begin(person.userId, 'test');
    let document = '';
    for await (const text of store.document(found!, parts)) document += text;
    const { data } = JSON.parse(document) as { data: Record<string, object[]> };
    const exported = new Map(
      parts.map((part) => [`table public.${part.table}`, JSON.stringify(data[keyOf(part)])]),
    );
    const inExport = findSecrets(person.secrets, exported);
    return { missing: inDatabase.filter((hit) => !inExport.includes(hit)), found: inDatabase, document };
  }

  it('R87: an export and an erasure are the same list', async () => {
    const { missing, found, document } = await exportPerson();
    const left = await rehearse();
    promise('R87', {
      figure: `${missing.length} of ${found.length} places are not exported, ${left.length} are not erased`,
      bound: '0, 0',
    });
    expect([missing, left]).toEqual([[], []]);
    const stored = await database.query<{ id: string }>(
      'SELECT o.id FROM session_observations o JOIN onboarding_sessions s ON s.id = o.session_id WHERE s.user_id = $1 ORDER BY o.id',
      [person.userId],
    );
    const { data } = JSON.parse(document) as { data: { sessionObservations: { id: number }[] } };
    expect(data.sessionObservations.map(({ id }) => String(id))).toEqual(stored.map(({ id }) => id));
    expect(findSecrets(other.secrets, new Map([['the export', document]]))).toEqual([]);
    expect(document).not.toMatch(/"\w+(Hash|Ciphertext)":/);
    const { link } = person.capabilities;
    const hash = createHash('sha256').update(link!).digest('hex');
    expect(findSecrets({ ...person.capabilities, hash }, new Map([['the export', document]]))).toEqual([]);
  });

  for (const part of PERSONAL_DATA.filter(({ table }) => PLACES_OF_A_PERSON.includes(table)))
    itAtLength(`turns red without ${part.table} in the list`, async () => {
      const parts = PERSONAL_DATA.filter((each) => each !== part);
      expect((await exportPerson(parts)).missing).not.toEqual([]);
      expect(await rehearse(undefined, undefined, parts)).not.toEqual([]);
    });

  it('an export of the API is what the list says, and is recorded', async () => {
    await insertRow(database.pool, 'idempotency_keys', { subjects: [person.userId] });
    const registered = 'SELECT id FROM registrations WHERE user_id = $1';
    const [registration] = await database.query<{ id: string }>(registered, [person.userId]);
    const subject = registration!.id;
    await insertRow(database.pool, 'stalls', { kind: 'registration', subject });
    const { status, headers, body } = await client.call<{ data: Record<string, object[]> }>(
      'GET',
      `/users/${person.userId}/export`,
    );
    expect([status, headers.get('content-disposition')]).toEqual([
      200,
      `attachment; filename="user-${person.userId}.json"`,
    ]);
    expect(Object.keys(body.data)).toEqual(PERSONAL_DATA.map(keyOf));
    expect(body.data).toMatchObject({
      users: [{ tenantReference: person.tenantReference }],
      gridLocations: [{ ean: expect.any(String) }, { ean: expect.any(String) }],
      consents: [{ locale: 'en', version: 'standard-2', text: expect.stringContaining('you agree') }],
    });
    const fieldsOf = (name: string) => body.data[name]!.map((row) => Object.keys(row).sort());
    expect(fieldsOf('bulkActions')).toContainEqual(['arguments', 'createdAt', 'operationId', 'reason']);
    expect(fieldsOf('idempotencyKeys')).toContainEqual(['createdAt']);
    expect(body.data.stalls).toContainEqual(expect.objectContaining({ kind: 'registration', subject }));
    const audited = 'SELECT FROM audit_log WHERE action = $1 AND target = $2';
    expect((await database.query(audited, ['user.exported', person.userId])).length).toBeGreaterThan(0);
    expect((await client.call('GET', `/users/${randomUUID()}/export`)).status).toBe(404);
  });

  it('an export does not end as if it were whole if the user is erased meanwhile', async () => {
    const { userId: id } = await client.startNew();
    const store = service.app.get(ExportStore);
    const document = store.document((await store.begin(id, 'test'))!);
    await document.next();
    expect((await client.call('DELETE', `/users/${id}`)).status).toBe(200);
    expect((await client.call('GET', `/users/${id}`)).status).toBe(404);
    const rest = async () => {
      let text = '';
      for await (const part of document) text += part;
      return text;
    };
    await expect(rest()).rejects.toThrow('erased during the export');
  });

  /** Lets retention delete the person's sessions and starts, but none of their events. */
  async function pruneSessions(tx: Transaction): Promise<void> {
    const past = "clock_timestamp() - interval '2 days'";
    await tx.query(
      `UPDATE session_starts SET orphans = 0, updated_at = ${past} WHERE grid_location_id = $1`,
      [person.gridLocationId],
    );
    await tx.query(PRUNE_STARTS, [1, 100, '0', 0]);
    await tx.query(
      `UPDATE onboarding_sessions
          SET start_url_ciphertext = NULL, closed_at = ${past}, close_reason = 'settled', changed_at = ${past}
        WHERE id = ANY ($1::uuid[])`,
      [person.sessionIds],
    );
    expect(await tx.query(PRUNE_SESSIONS, [1, 100, '0', 0])).toEqual([
      { pruned: person.sessionIds.length, next: null },
    ]);
  }

  it('for a person whose sessions retention has deleted', async () => {
    expect(await rehearse(undefined, pruneSessions)).toEqual([]);
  });

  itAtLength('turns red without the sessions that retention has deleted', async () => {
    const left = await rehearse(FIND_IDS, pruneSessions, PERSONAL_DATA, /FROM pruned_sessions WHERE/);
    expect(left.length).toBeGreaterThan(0);
  });

  it('leaves nothing of the person in any table, and everything of others', async () => {
    const findOther = async () =>
      findSecrets(other.secrets, await dumpTables(service.environment.DATABASE_URL));
    const ofOther = await findOther();
    const { status, body } = await erase(person.userId);
    expect([status, body]).toEqual([
      200,
      {
        object: 'erasure_receipt',
        id: expect.any(String),
        userId: person.userId,
        erasedAt: expect.any(String),
        erased: {
          gridLocations: 2,
          registrations: 3,
          sessions: 4,
          observations: expect.any(Number),
          inverters: 2,
          consents: 1,
          events: expect.any(Number),
        },
        remote: { erased: false, detail: expect.stringContaining(person.userId) },
      },
    ]);
    const places = await placesOf(person, service);
    promise('R38', {
      figure: `the person is found in ${places.length} tables, in ${PLACES_OF_A_PERSON.length} before`,
      bound: '0',
    });
    expect(places).toEqual([]);
    expect(await findOther()).toEqual(expect.arrayContaining(ofOther));
    const { metadata, tenantReference } = await client.session(bystander.id);
    expect([metadata, tenantReference]).toEqual([{ kept: true }, bystander.tenantReference]);
  });

  it('announces it, with the end of every session that was watched, and stops reading them', async () => {
    const { events, reads } = await readOn();
    expect(events.filter(({ subject }) => subject === person.userId).map(({ type }) => type)).toEqual([
      'pv.user.registered.v1',
      'pv.user.erased.v1',
    ]);
    for (const id of person.sessionIds) {
      const ofSession = events.filter(({ subject }) => subject === id);
      expect(ofSession.at(-1)).toMatchObject({
        type: 'pv.session.closed.v1',
        data: { reason: 'erased', tenantReference: null, metadata: {}, inverters: [] },
      });
      expect(ofSession[0]).toMatchObject({ type: 'pv.session.started.v1', data: { tenantReference: null } });
    }
    const later = (await readOn()).reads;
    expect(person.sessionIds.map((id) => later[id]?.total)).toEqual(
      person.sessionIds.map((id) => reads[id]?.total),
    );
  });

  /** Waits for two more reads of the bystander's session. Returns the feed and the reads per session. */
  async function readOn() {
    const { control } = service.sandbox!;
    const count = async () => (await control.ledger()).reads[bystander.id]?.total ?? 0;
    const until = (await count()) + 2;
    await waitFor('reads of another session', async () => (await count()) >= until);
    return { events: await client.events(), reads: (await control.ledger()).reads };
  }

  it('frees the reference, and returns the receipt of the first erasure again', async () => {
    const first = await erase(person.userId);
    const { tenantReference, gridLocations } = person;
    const again = await client.call<UserAnswer>('POST', '/users', { tenantReference, gridLocations });
    expect(again.status).toBe(201);
    expect(await erase(person.userId)).toMatchObject({ status: 200, body: first.body });
    expect((await client.call('GET', `/users/${again.body.id}`)).status).toBe(200);
  });
});

describe('R38: nothing brings an erased person back', () => {
  beforeAll(() => start());
  afterAll(() => service.close());

  it('not a read in flight', async () => {
    const { control } = service.sandbox!;
    const session = await client.startNew({ metadata: { note: 'canary' } });
    const hold = await control.addFault({
      kind: 'hold',
      operation: 'read_session',
      contains: session.id,
      times: 1,
    });
    await control.fields(session.id, { set: { finished: true, owner: 'canary' } });
    await waitUntilHeld(service.sandbox!.control, 1, hold.id);
    await erase(session.userId);
    const before = (await readSessionRecords(database)).get(session.id);
    await control.release(hold.id);
    await waitForEndOfReads();
    expect((await readSessionRecords(database)).get(session.id)).toBe(before);
  });

  it('not a handler that is processing an event, nor its error', async () => {
    const indiscreet = service.app.get(Indiscreet);
    const session = await client.startNew();
    let release = () => {};
    indiscreet.held.set(session.id, new Promise((resolve) => (release = resolve)));
    await service.sandbox!.control.online(session.id, { inverters: 1 });
    const findDelivery = async () =>
      (
        await database.query<{ attempts: number; lastError: string | null }>(
          'SELECT attempts, last_error AS "lastError" FROM admin.event_deliveries WHERE subject = $1',
          [session.id],
        )
      )[0];
    await waitFor('the handler has the event', () => indiscreet.begun.has(session.id));
    await erase(session.userId);
    release();
    const failed = await waitFor('the handler has failed', async () => {
      const delivery = await findDelivery();
      return delivery?.attempts === 1 && delivery;
    });
    expect(failed.lastError).toBeNull();
    expect(
      findSecrets(
        { reference: session.tenantReference! },
        await dumpThrough((statement) => database.query(statement)),
      ),
    ).toEqual([]);
  });

  it('not a registration that is being sent: it is decided first', async () => {
    const { control } = service.sandbox!;
    const hold = await control.addFault({ kind: 'hold', operation: 'register_user', times: 1 });
    const request = { tenantReference: 'slow', gridLocations: [{ ean: '871687400000000017' }] };
    const registering = client.call<UserAnswer>('POST', '/users', request);
    await waitUntilHeld(service.sandbox!.control, 1, hold.id);
    const being = (await erasures.eraseReference('slow', 'test')) as BeingSent;
    const ids = { registrationId: being.registrationBeingSent };
    expect(() => toReceipt(being, 'user')).toThrow(
      expect.objectContaining({ code: 'registration_conflict', extra: { ids } }),
    );
    await control.release(hold.id);
    const { id } = (await registering).body;
    expect(await erasures.eraseReference('slow', 'test')).toMatchObject({
      userId: id,
      erased: { registrations: 1 },
    });
  });

  it('not a start in flight: it ends with a 404', async () => {
    const { response, gridLocationId } = await startWhileErasing();
    expect([response.status, response.body]).toMatchObject([404, { code: 'not_found' }]);
    const starts = await database.query(
      'SELECT status, orphans, session_id, last_error, request FROM session_starts WHERE grid_location_id = $1 ORDER BY created_at',
      [gridLocationId],
    );
    const ended = { status: 'failed', orphans: 1, session_id: null, last_error: ERASED.error, request: null };
    expect(starts).toEqual([{ ...ended, orphans: 0, last_error: null }, ended]);
    expect((await client.events()).filter(({ subject }) => subject === gridLocationId)).toMatchObject([
      { type: 'pv.session.start_failed.v1', data: { reason: ERASED.reason, tenantReference: null } },
    ]);
    expect((await client.start(gridLocationId)).status).toBe(404);
  });

  itAtLength('turns red when a start does not check whether its user is erased', async () => {
    await service.close();
    await start((app) => {
      for (const statement of [BEGIN_START, LOCK_START])
        changeStatement(app, statement, 'u.erased_at IS NULL AND', '');
    });
    const { response } = await startWhileErasing();
    expect([response.status, response.body.metadata]).toEqual([201, { note: 'canary' }]);
  });

  async function startWhileErasing() {
    const { control } = service.sandbox!;
    const gridLocationId = await client.locate();
    const [location] = await database.query<{ userId: string }>(
      'SELECT user_id AS "userId" FROM grid_locations WHERE id = $1',
      [gridLocationId],
    );
    const before = { grid_location_id: gridLocationId, brand: 'before', status: 'failed' };
    await insertRow(database.pool, 'session_starts', { ...before, last_error: 'canary', request: 'canary' });
    const hold = await control.addFault({ kind: 'hold', operation: 'start_session', times: 1 });
    const starting = client.start(gridLocationId, { metadata: { note: 'canary' } });
    await waitUntilHeld(service.sandbox!.control, 1, hold.id);
    expect((await erase(location!.userId)).status).toBe(200);
    await control.release(hold.id);
    return { response: await starting, gridLocationId };
  }
});

import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { LOCK_CURRENT_AND_KNOWN } from '../../../src/onboarding/start/starts.sql.js';
import { StartsStore } from '../../../src/onboarding/start/starts.store.js';
import { Database } from '../../../src/platform/database/database.js';
import type { Answer, SessionAnswer, TestClient } from '../../setup/client.js';
import { newEan } from '../../setup/ean.js';
import { waitFor } from '../../setup/wait-for.js';
import { changeStatement } from '../support/changed-statement.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { startReplicas, type Replicas } from '../support/replicas.js';
import {
  changed,
  type Customer,
  leaks,
  readOwners,
  register,
  scriptStart,
  secretsOf,
  userBody,
} from '../support/input/two-customers.js';
import { waitForLockWaits } from '../support/waits.js';

const PAIRS = isLong ? 20 : 2;

let replicas: Replicas;
afterEach(() => replicas.close());

/** Starts replicas without a poller, so that only the test's requests change sessions. */
const open = async (count = 1, prepare?: (app: NestFastifyApplication) => void): Promise<TestClient> => {
  replicas = await startReplicas({ count, environment: { ROLE: 'api' }, ...(prepare && { prepare }) });
  return replicas.clients[0]!;
};
const database = (): Database => replicas.apps[0]!.database;
const control = () => replicas.sandbox.control;

const start = async (client: TestClient, locationId: string, body: object = {}): Promise<SessionAnswer> =>
  (await client.start(locationId, { metadata: { secret: randomUUID() }, ...body })).body;

async function online(client: TestClient, session: SessionAnswer, inverters: readonly string[]) {
  await control().online(session.id, { inverters });
  return (await client.call<SessionAnswer>('POST', `/onboarding/pv/${session.id}/refresh`)).body;
}

const startsOf = (locationId: string, brand: string) =>
  database().query<{ status: string; attempts: number; orphans: number; lastError: string | null }>(
    `SELECT status, attempts, orphans, last_error AS "lastError" FROM session_starts
      WHERE grid_location_id = $1 AND brand = $2 ORDER BY created_at DESC LIMIT 1`,
    [locationId, brand],
  );

const drifts = async (client: TestClient): Promise<string[]> =>
  (await client.events())
    .filter(({ type, data }) => type === 'pv.remote.contract_drift.v1' && data.kind === 'foreign_id')
    .map(({ data }) => `${String(data.operation)} ${String(data.field)}`)
    .sort();

/** The bug: if the returned id is the id of a known session, treats that session as a session of the started location. */
const believeTheId = (app: NestFastifyApplication): void =>
  changeStatement(
    app,
    LOCK_CURRENT_AND_KNOWN,
    'user_id AS "userId", grid_location_id AS "gridLocationId", brand, state, closed_at AS "closedAt"',
    `(SELECT user_id FROM grid_locations WHERE id = $1) AS "userId", $1::uuid AS "gridLocationId", $2::text AS brand,
     'unrecognised' AS state, NULL::timestamptz AS "closedAt"`,
  );

/** Creates sessions of other users, locations and brands. Returns their ids, and the texts that Bob must not see. */
async function foreignSessions(client: TestClient, alice: Customer, bob: Customer) {
  const [live, closed, replaced] = [
    await start(client, alice.locationIds[0]!, { brand: 'acme' }),
    await start(client, alice.locationIds[1]!, { brand: 'acme' }),
    await start(client, alice.locationIds[1]!, { brand: 'other' }),
  ];
  await start(client, alice.locationIds[1]!, { brand: 'other', reuse: false });
  const shown = await online(client, closed, [randomUUID()]);
  const erased = await register(client);
  const ofErased = await start(client, erased.locationIds[0]!);
  await client.call('DELETE', `/users/${erased.userId}`);
  const elsewhere = await start(client, bob.locationIds[1]!, { brand: 'acme' });
  const otherBrand = await start(client, bob.locationIds[0]!, { brand: 'third' });
  return {
    ids: {
      'another user': live.id,
      'another user, online': closed.id,
      'another user, superseded': replaced.id,
      'an erased user': ofErased.id,
      'another location': elsewhere.id,
      'another brand': otherBrand.id,
      'the id of another user': alice.userId,
      'the own user id': bob.userId,
    },
    secrets: [...secretsOf(live), ...secretsOf(shown), ...secretsOf(replaced), ofErased.id, elsewhere.id],
  };
}

interface Judged {
  readonly responses: number;
  readonly returned: string[];
  readonly changedRows: string[];
  readonly wrong: string[];
}

/** Makes the remote service return each foreign id for Bob's starts: for two brands, with and without `reuse`. */
async function startWithForeignSessions(client: TestClient, most = Infinity): Promise<Judged> {
  const [alice, bob] = [await register(client), await register(client)];
  const locationId = bob.locationIds[0]!;
  const { ids, secrets } = await foreignSessions(client, alice, bob);
  await start(client, locationId, { brand: 'acme' });
  const before = await readOwners(database());
  const judged: Judged = { responses: 0, returned: [], changedRows: [], wrong: [] };
  let responses = 0;
  for (const [whose, sessionId] of Object.entries(ids).slice(0, most)) {
    // Omits acme with `reuse`, because that start returns the open session without a remote call.
    for (const wanted of [
      { brand: 'acme', reuse: false },
      { brand: 'other', reuse: false },
      { brand: 'other', reuse: true },
    ]) {
      await scriptStart(control(), locationId, sessionId);
      const answer = await client.start(locationId, wanted);
      const [row] = await startsOf(locationId, wanted.brand);
      judged.returned.push(...leaks(answer, secrets));
      if (answer.status !== 503 || row?.status !== 'failed' || row.orphans !== 1 || row.attempts !== 1)
        judged.wrong.push(`${whose} ${JSON.stringify(wanted)}: ${answer.status} ${JSON.stringify(row)}`);
      responses++;
    }
  }
  judged.changedRows.push(...changed(before, await readOwners(database())));
  return { ...judged, responses };
}

/** Makes the remote service return the same new id for concurrent starts of two customers. Returns the faults. */
async function startTwoWithOneId(): Promise<string[]> {
  const wrong: string[] = [];
  const [one, other] = replicas.clients as [TestClient, TestClient];
  for (let pair = 0; pair < PAIRS; pair++) {
    const customers = [await register(one), await register(one)];
    const sessionId = randomUUID();
    for (const { locationIds } of customers) await scriptStart(control(), locationIds[0]!, sessionId);
    const answers = await meetWhileHeld(
      customers.map(({ userId }) => userId),
      () =>
        Promise.all(
          customers.map(({ locationIds }, index) =>
            (index === 0 ? one : other).start(locationIds[0]!, { metadata: { secret: locationIds[0]! } }),
          ),
        ),
    );
    const [winner, ...more] = answers.filter(({ status }) => status === 201);
    if (winner === undefined || more.length > 0) wrong.push(`${1 + more.length} have the session`);
    for (const [index, answer] of answers.entries()) {
      const { userId, locationIds } = customers[1 - index]!;
      wrong.push(...leaks(answer, [userId, locationIds[0]!]));
    }
  }
  return wrong;
}

const gates: { arrived: number; opened: Promise<void> } = { arrived: 0, opened: Promise.resolve() };

/** Makes every start wait for `gates.opened` before it records its response. */
const gateResponses = (app: NestFastifyApplication): void => {
  const starts = app.get(StartsStore);
  const record = starts.record.bind(starts);
  starts.record = async (...given) => {
    gates.arrived++;
    await gates.opened;
    return record(...given);
  };
};

/** Locks the users' rows until both starts wait for them, so that the statements of both starts overlap. */
async function meetWhileHeld(userIds: readonly string[], startBoth: () => Promise<Answer<SessionAnswer>[]>) {
  let open = () => {};
  gates.arrived = 0;
  gates.opened = new Promise((resolve) => (open = resolve));
  const answers = startBoth();
  await waitFor('both have their response', () => gates.arrived === 2);
  await database().transaction(async (tx) => {
    await tx.query('SELECT FROM users WHERE id = ANY($1::uuid[]) FOR UPDATE', [userIds]);
    open();
    await waitForLockWaits(database(), 2);
  });
  return answers;
}

describe('R60: an id of somebody else gives no access', () => {
  it('when responses to starts contain sessions of others, with and without `reuse`, for two brands', async () => {
    const client = await open();
    const { responses, returned, changedRows, wrong } = await startWithForeignSessions(client);
    promise('R60', {
      figure: `${returned.length} foreign facts returned, ${changedRows.length} rows changed or superseded, ${wrong.length} not counted, ${responses} responses to starts with known ids`,
      bound: '0, 0, 0',
    });
    expect({ returned, changedRows, wrong }).toEqual({ returned: [], changedRows: [], wrong: [] });
    await waitFor('it is announced', async () => (await drifts(client)).includes('start_session sessionId'));
  });

  it('when responses to two concurrent starts contain the same new session', async () => {
    const client = await open(2, gateResponses);
    const wrong = await startTwoWithOneId();
    promise('R60', {
      figure: `${wrong.length} facts of the other, ${PAIRS} pairs of starts with one id`,
      bound: '0',
    });
    expect(wrong).toEqual([]);
    await waitFor('it is announced', async () => (await drifts(client)).includes('start_session sessionId'));
  });

  it('when responses to registrations contain users and grid locations of others', async () => {
    const client = await open();
    const alice = await register(client);
    const session = await start(client, alice.locationIds[0]!);
    const before = await readOwners(database());
    const own = () => randomUUID();
    const [first, second] = [alice.locationIds[0]!, alice.locationIds[1]!];
    type Foreign = {
      readonly id?: string;
      readonly locations?: readonly string[];
      readonly of?: Customer;
      readonly ean?: string;
    };
    const responses: Record<string, Foreign> = {
      'the user id': { id: alice.userId },
      'the locations': { locations: [first, second] },
      'the locations in another order': { locations: [second, first] },
      'one location': { locations: [own(), second] },
      'fewer locations': { locations: [first] },
      'one more location': { locations: [own(), own(), first] },
      'one more EAN': { locations: [own(), own(), own()], ean: alice.eans[0]! },
      'one location twice': { locations: [first, first] },
      'the whole user': { id: alice.userId, locations: [first, second], of: alice },
      'the session as user id': { id: session.id },
    };
    const wrong: string[] = [];
    for (const [what, { id = own(), locations = [own(), own()], of, ean = newEan() }] of Object.entries(
      responses,
    )) {
      const reference = randomUUID();
      const eans = [newEan(), newEan()];
      const places = locations.map((location, index) => ({
        id: location,
        ean: (of?.eans ?? eans)[index] ?? ean,
      }));
      const body = userBody(id, of?.reference ?? reference, places);
      const request = { tenantReference: reference, gridLocations: eans.map((ean) => ({ ean })) };
      await control().addFault({
        kind: 'answer',
        operation: 'register_user',
        contains: reference,
        status: 201,
        body,
        times: 1,
      });
      const answer = await client.call<{ id: string; status: string }>('POST', '/users', request);
      const secrets = [...secretsOf(session), alice.userId, alice.reference, ...alice.eans, first, second];
      wrong.push(...leaks(answer, secrets).map((leak) => `${what}: ${leak}`));
      if (answer.status !== 202 || answer.body.status !== 'uncertain')
        wrong.push(`${what}: ${answer.status} ${answer.body.status}`);
      const resolved = await client.call<{ errors?: { field: string }[] }>(
        'POST',
        `/registrations/${answer.body.id}/resolve`,
        JSON.parse(body.replace(/"ean":(\d+)/g, '"ean":"$1"')),
      );
      wrong.push(...leaks(resolved, [session.tenantReference!]).map((leak) => `resolve ${what}: ${leak}`));
      if (![400, 409].includes(resolved.status) || !resolved.body.errors?.length)
        wrong.push(`resolve ${what}: ${resolved.status} ${JSON.stringify(resolved.body)}`);
    }
    const changedRows = changed(before, await readOwners(database()));
    promise('R60', {
      figure: `${wrong.length + changedRows.length} foreign facts returned or stored, ${Object.keys(responses).length} registrations and resolves with ids of others`,
      bound: '0',
    });
    expect({ wrong, changedRows }).toEqual({ wrong: [], changedRows: [] });
    const fields = ['gridLocations[].ean', 'gridLocations[].id', 'id', 'tenantReference'];
    await waitFor('it is announced', async () => (await drifts(client)).length >= fields.length);
    expect(await drifts(client)).toEqual(fields.map((field) => `register_user ${field}`));
  });

  it('when a response to a read contains another session, and when two sessions list the same inverter', async () => {
    const client = await open();
    const [alice, bob] = [await register(client), await register(client)];
    const [hers, his] = [
      await start(client, alice.locationIds[0]!),
      await start(client, bob.locationIds[0]!),
    ];
    await control().fields(his.id, { set: { sessionId: hers.id, finished: true, active: false } });
    const refused = await client.call('POST', `/onboarding/pv/${his.id}/refresh`);
    expect(refused.status).toBe(503);
    expect(leaks(refused, [hers.id])).toEqual([]);
    await waitFor('it is announced', async () => (await drifts(client)).includes('read_session sessionId'));
    await control().fields(his.id);

    const inverter = randomUUID();
    await online(client, hers, [inverter]);
    await online(client, his, [inverter]);
    type Listed = { items: { id: string; userId: string; sessionId: string }[]; next: string | null };
    const list = async (query: string) =>
      (await client.call<Listed>('GET', `/inverters?${query}`)).body.items.map(({ sessionId }) => sessionId);
    expect(await list(`userId=${alice.userId}`)).toEqual([hers.id]);
    expect(await list(`gridLocationId=${alice.locationIds[0]}`)).toEqual([hers.id]);
    expect(await list(`userId=${bob.userId}`)).toEqual([his.id]);
    expect(await list('limit=200')).toEqual([his.id, hers.id]);
    expect((await client.call('GET', `/inverters/${inverter}`)).body).toMatchObject({
      sessionId: his.id,
      userId: bob.userId,
      gridLocationId: bob.locationIds[0],
    });
    await client.call('DELETE', `/users/${bob.userId}`);
    expect(await list('limit=200')).toEqual([hers.id]);
    expect((await client.session(hers.id)).inverters).toMatchObject([{ id: inverter, missingSince: null }]);
  });

  itAtLength('turns red when the conflict of ids is ignored and the session read by its id', async () => {
    const client = await open(1, believeTheId);
    const { returned, changedRows, wrong } = await startWithForeignSessions(client, 1);
    expect(returned.length).toBeGreaterThan(0);
    expect(changedRows.length).toBeGreaterThan(0);
    expect(wrong.length).toBeGreaterThan(0);
  });

  itAtLength('turns red when it is ignored for two concurrent starts', async () => {
    await open(2, (app) => {
      gateResponses(app);
      believeTheId(app);
    });
    expect(await startTwoWithOneId()).not.toEqual([]);
  });
});

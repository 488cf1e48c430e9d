import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Command } from 'commander';
import { apiCommands } from '../../../src/cli/api/api-commands.js';
import { findApi } from '../../../src/cli/api/service-api.js';
import { Poller } from '../../../src/onboarding/poll/poller.js';
import { Database } from '../../../src/platform/database/database.js';
import type { Environment } from '../../../src/platform/env/environment.js';
import { Remote } from '../../../src/remote/remote.service.js';
import type { SessionAnswer } from '../../setup/client.js';
import { newEan } from '../../setup/ean.js';
import { ADMIN_KEY } from '../../setup/test-environment.js';
import { waitFor } from '../../setup/wait-for.js';
import type { SandboxFault } from '../../setup/sandbox/sandbox-control.js';
import { allAtLength, itAtLength, promise } from '../support/promise.js';
import { startReplicas, type Replicas } from '../support/replicas.js';

const MINUTE_MS = 60_000;
/** The clock moves by a minute after each round of reads, for seven minutes. */
const MINUTES = 7;
/** No worker reads by itself: the tests read, as often as they want. */
const API = { ROLE: 'api', POLL_MIN_INTERVAL_MS: 15_000, POLL_MAX_INTERVAL_MS: 900_000 } as const;

const page = (type: string, body: string): Partial<SandboxFault> => ({
  headers: { 'content-type': type },
  body,
});
/** Responses of something in front of the service, the first the most usual. */
const GATEWAYS: Record<string, Partial<SandboxFault>> = {
  'text 404': { status: 404, ...page('text/plain', 'default backend - 404') },
  'HTML 403': { status: 403, ...page('text/html', '<html><h1>403 Forbidden</h1></html>') },
  'empty 410': { status: 410, ...page('application/json', '') },
  'string 404': { status: 404, ...page('application/json', '"not found"') },
  'array 410': { status: 410, ...page('application/json', '[]') },
  'text 405': { status: 405, ...page('text/plain', 'method not allowed') },
  'object 404': { status: 404, ...page('application/json', '{"message":"no Route matched"}') },
  'object 421': { status: 421, ...page('application/json', '{"error":"Misdirected Request"}') },
  'object 403': { status: 403, ...page('application/json', '{"message":"forbidden"}') },
  'object 400': { status: 400, ...page('application/json', '{"message":"Bad Request"}') },
  'object 409': { status: 409, ...page('application/json', '{"message":"Conflict"}') },
  'object 422': { status: 422, ...page('application/json', '{"message":"blocked"}') },
};

let replicas: Replicas;
afterEach(() => replicas.close());

const client = () => replicas.clients[0]!;
const control = () => replicas.sandbox.control;
const database = (): Database => replicas.apps[0]!.database;

async function start(
  environment: Partial<Environment> = API,
  prepare?: (app: NestFastifyApplication) => void,
): Promise<void> {
  replicas = await startReplicas({ count: 1, environment, ...(prepare && { prepare }) });
}

/** Makes the recorded evidence as old as if `ms` had passed. */
async function pass(ms: number): Promise<void> {
  await database().query(
    `UPDATE session_polls SET not_found_since = not_found_since - $1 * interval '1 millisecond',
            look_again_at = look_again_at - $1 * interval '1 millisecond'`,
    [ms],
  );
  await database().query(`UPDATE inverters SET absent_since = absent_since - $1 * interval '1 millisecond'`, [
    ms,
  ]);
}

const callOf = (method: string, path: string) => async () => {
  const { status } = await client().call(method, path);
  expect([200, 503]).toContain(status);
};

/** Runs a command as a person does. */
async function command(...words: string[]): Promise<void> {
  const variables = { PV_ONBOARDING_URL: replicas.apps[0]!.url, PV_ONBOARDING_API_KEY: ADMIN_KEY };
  const program = new Command();
  for (const each of apiCommands(() => findApi(variables))) program.addCommand(each);
  const print = jest.spyOn(console, 'log').mockImplementation(() => {});
  const { exitCode } = process;
  await program.parseAsync(words, { from: 'user' }).catch((error: unknown) => {
    expect(error).toMatchObject({ code: 'remote_unavailable' });
  });
  process.exitCode = exitCode;
  print.mockRestore();
}

/** Makes all sessions due, and reads them as a worker does. */
async function poll(): Promise<void> {
  await database().query(`UPDATE session_polls SET due_at = clock_timestamp() - interval '1 ms'`);
  const [row] = await database().query<{ count: number }>('SELECT count(*)::int FROM session_polls');
  expect(await replicas.apps[0]!.app.get(Poller)['claim'](row!.count)).toBe(row!.count);
  await waitFor(
    'they are read',
    async () => (await database().query('SELECT FROM poll_batches')).length === 0,
  );
}

/** Reads a session in every way in which anybody reads it. Waits for a change in the first minute only, since this takes a second. */
async function readInAllWays({ id, userId }: SessionAnswer, minute: number): Promise<void> {
  const ways = [
    callOf('GET', `/onboarding/pv/${id}?maxAge=0`),
    callOf('GET', `/users/${userId}/pv/onboarding-sessions/${id}?maxAge=0&stale=allow`),
    ...(minute === 0 ? [callOf('GET', `/onboarding/pv/${id}?maxAge=0&wait=1`)] : []),
    callOf('POST', `/onboarding/pv/${id}/refresh`),
    () => command('sessions', 'refresh', id),
    poll,
  ];
  for (const read of ways) await read();
}

const register = (tenantReference: string) =>
  client().call('POST', '/users', { tenantReference, gridLocations: [{ ean: newEan() }] });

/** Counts what has ended or was taken away, with their events. */
async function countEnded() {
  const [row] = await database().query<Record<'lost' | 'rejected' | 'missing' | 'uncertain', number>>(
    `SELECT (SELECT count(*)::int FROM session_transitions WHERE to_state = 'lost') AS lost,
            (SELECT count(*)::int FROM registrations WHERE status = 'rejected') AS rejected,
            (SELECT count(*)::int FROM registrations WHERE status = 'uncertain') AS uncertain,
            (SELECT count(*)::int FROM domain_events WHERE name = 'inverter.missing') AS missing`,
  );
  return row!;
}
const NONE = { lost: 0, rejected: 0, uncertain: 0, missing: 0 };

interface Status {
  readonly reasons: readonly { readonly code: string; readonly detail: string }[];
  readonly remote: { readonly operations: Record<string, { readonly lastError: string | null }> };
}
const status = async () => (await client().call<Status>('GET', '/status')).body;

/** Makes every call meet the gateway for seven minutes, while sessions are read and customers registered. */
async function meet(gateway: Partial<SandboxFault>, prepare?: (app: NestFastifyApplication) => void) {
  await start(API, prepare);
  const sessions = [await client().startNew(), await client().startNew()];
  await control().addFault({ kind: 'answer', operation: 'any', times: null, ...gateway });
  const references: string[] = [];
  for (let minute = 0; minute < MINUTES; minute++) {
    references.push(randomUUID());
    await register(references.at(-1)!);
    for (const session of sessions) await readInAllWays(session, minute);
    await pass(MINUTE_MS);
  }
  return { sessions, references, ended: await countEnded() };
}

describe('R81: absence ends nothing', () => {
  it.each(allAtLength(Object.keys(GATEWAYS)))(
    'ends no session and refuses no customer for %s of a gateway, and says so',
    async (name) => {
      const gateway = GATEWAYS[name]!;
      const { sessions, references, ended } = await meet(gateway);
      promise('R81', {
        figure: `${name} for 7 minutes: ${ended.lost} lost, ${ended.rejected} rejected, ${ended.missing} missing`,
        bound: '0, 0, 0',
      });
      expect(ended).toEqual(NONE);
      if (gateway.body?.startsWith('{') !== true) {
        const { remote } = await status();
        const shown = `before the remote service answers: status ${gateway.status}, ${gateway.headers!['content-type']}`;
        expect(remote.operations.read_session!.lastError).toContain(shown);
        expect(remote.operations.register_user!.lastError).toContain(shown);
      }
      await control().clearFaults();
      for (const { id } of sessions)
        await waitFor('the session is read', async () => {
          const { status: code } = await client().call('POST', `/onboarding/pv/${id}/refresh`);
          return code === 200;
        });
      const pending = `SELECT FROM registrations WHERE status = 'pending' AND tenant_reference = ANY ($1)`;
      expect(await database().query(pending, [references])).toHaveLength(references.length);
    },
    600_000,
  );

  it('names the gateway as a reason within a minute, and registers the customers once it is gone', async () => {
    await start();
    const { id } = await client().startNew();
    const fault = { operation: 'any', times: null, ...GATEWAYS['text 404'] } as const;
    await control().addFault({ kind: 'answer', ...fault });
    const reference = randomUUID();
    expect((await register(reference)).status).toBe(202);
    await waitFor(
      'a reason',
      async () => {
        await client().call('GET', `/onboarding/pv/${id}?maxAge=0`);
        const { reasons } = await status();
        return reasons.some(
          ({ code, detail }) => code === 'remote_degraded' && detail.includes('status 404, text/plain'),
        );
      },
      MINUTE_MS,
    );
  });

  it('registers a customer whom a gateway has turned away, without a person', async () => {
    await start({});
    const reference = randomUUID();
    await control().addFault({
      kind: 'answer',
      operation: 'register_user',
      times: 2,
      ...GATEWAYS['text 404'],
    });
    expect((await register(reference)).status).toBe(202);
    const registered = `SELECT FROM registrations WHERE tenant_reference = $1 AND status = 'registered'`;
    await waitFor('the registration', async () => {
      const rows = await database().query(registered, [reference]);
      return rows.length === 1;
    });
  });

  it.each([['{"message":"there is no such session"}'], ['']])(
    'calls a session lost that is not found for eight minutes while others are read: body %s',
    async (body) => {
      await start();
      const [{ id }, { id: other }] = [await client().startNew(), await client().startNew()];
      const gone = { operation: 'read_session', contains: id, times: null, status: 404, body } as const;
      await control().addFault({ kind: 'answer', ...gone });
      const readBoth = async () => {
        await client().call('POST', `/onboarding/pv/${id}/refresh`);
        await client().call('POST', `/onboarding/pv/${other}/refresh`);
      };
      for (let nth = 0; nth < 8; nth++) await readBoth();
      expect((await client().session(id)).state).toBe('awaiting_owner');
      await pass(8 * MINUTE_MS);
      await readBoth();
      expect((await client().session(id)).state).toBe('lost');
      expect((await client().session(other)).state).toBe('awaiting_owner');
    },
  );

  it.each([1, 2, 3, 4, 7])(
    'calls each of %i open sessions lost if none is found for eight minutes while the service serves the rest',
    async (count) => {
      await start();
      const ids: string[] = [];
      for (let nth = 0; nth < count; nth++) ids.push((await client().startNew()).id);
      for (const id of ids) await control().deleteSession(id);
      const readAll = async (times: number) => {
        for (let nth = 0; nth < times; nth++)
          for (const id of ids) await client().call('POST', `/onboarding/pv/${id}/refresh`);
      };
      await readAll(5);
      expect(await countEnded()).toEqual(NONE);
      await pass(8 * MINUTE_MS);
      await readAll(1);
      expect(await countEnded()).toEqual({ ...NONE, lost: count });
    },
  );

  it.each<[string, object]>([
    ['empty', { set: { inverters: [] } }],
    ['null', { set: { inverters: null } }],
    ['absent', { absent: ['inverters'] }],
    ['without one', { set: { inverters: [{ id: '5f0a5a35-58ad-4f2a-a3b8-7f6cf6a5a001' }] } }],
  ])('misses no inverter when the list is %s for seven minutes', async (_, override) => {
    await start();
    const session = await client().startNew();
    const { id } = session;
    await control().online(id, { inverters: ['5f0a5a35-58ad-4f2a-a3b8-7f6cf6a5a001', randomUUID()] });
    await client().call('POST', `/onboarding/pv/${id}/refresh`);
    await control().fields(id, override);
    for (let minute = 0; minute < MINUTES; minute++) {
      await readInAllWays(session, minute);
      await pass(MINUTE_MS);
    }
    expect(await countEnded()).toEqual(NONE);
    await control().fields(id);
    await client().call('POST', `/onboarding/pv/${id}/refresh`);
    expect((await client().session(id)).inverters).toMatchObject([
      { missingSince: null },
      { missingSince: null },
    ]);
    expect((await client().eventsOf(id)).slice(1)).toEqual([
      'session.online',
      'inverter.online',
      'inverter.online',
    ]);
  });

  it('misses an inverter that a second read does not list either after eight minutes', async () => {
    await start();
    const { id } = await client().startNew();
    await control().online(id, { inverters: 2 });
    const refresh = () => client().call('POST', `/onboarding/pv/${id}/refresh`);
    await refresh();
    const [first] = (await client().session(id)).inverters;
    await control().removeInverter(id, first!.id);
    await refresh();
    await refresh();
    expect(await countEnded()).toEqual(NONE);
    await pass(8 * MINUTE_MS);
    await refresh();
    expect(await countEnded()).toEqual({ ...NONE, missing: 1 });
    expect((await client().eventsOf(id)).at(-1)).toBe('inverter.missing');
  });

  itAtLength('turns red when foreign bodies count as refusals', async () => {
    // The base probe passes: a status that it gets, too, ends nothing anyway.
    const registrations = { ...GATEWAYS['text 404'], status: 422, operation: 'register_user' } as const;
    const { ended } = await meet(registrations, (app) => {
      for (const gate of Object.values(app.get(Remote).gates)) gate['foreign'].record = () => true;
    });
    expect(ended.rejected).toBeGreaterThan(0);
  });
});

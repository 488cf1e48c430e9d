import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../src/platform/database/database.js';
import { appendOnline } from '../../db/events/fixture.js';
import { TestClient } from '../../setup/client.js';
import { newEan } from '../../setup/ean.js';
import type { WebhookReceiver } from '../../setup/receivers/webhook-receiver.js';
import type { SandboxControl } from '../../setup/sandbox/sandbox-control.js';
import { waitFor } from '../../setup/wait-for.js';
import { makeEndpoint } from './webhooks.js';

const CALL_AGAIN_MS = 50;

export interface World {
  readonly client: TestClient;
  readonly control: SandboxControl;
  readonly receiver: WebhookReceiver;
  /** A connection that bypasses the proxy. */
  readonly database: Database;
}

/**
 * A task of an app, which repeats its request until the task is done, but at most for `withinMs`. Returns what is lost, doubled or
 * uncertain.
 */
export interface Flow {
  readonly name: string;
  /** Creates the data that the flow needs, without a fault. */
  prepare(world: World): Promise<PreparedFlow>;
}

export interface PreparedFlow {
  /** A value of its own that its statements bind, themselves or earlier in their transaction. */
  readonly id: string;
  readonly run: (withinMs: number) => Promise<string[]>;
}

/** Returns a finding unless `count` is 1. */
const one = (what: string, count: number): string[] => (count === 1 ? [] : [`${count} ${what}`]);

const countOf = async ({ database }: World, text: string, values: readonly unknown[]): Promise<number> =>
  (await database.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${text}`, values))[0]!.count;

const countEvents = (world: World, name: string, field: string, id: string) =>
  countOf(world, 'domain_events WHERE name = $1 AND data ->> $2 = $3', [name, field, id]);

const repeat = (
  client: TestClient,
  accepted: readonly number[],
  withinMs: number,
  ...request: Parameters<TestClient['call']>
) =>
  waitFor(
    `${request[0]} ${request[1]}`,
    async () => {
      const { status } = await client.call(...request);
      if (accepted.includes(status)) return true;
      await sleep(CALL_AGAIN_MS);
      throw new Error(`it is ${status}`);
    },
    withinMs,
  );

export const register: Flow = {
  name: 'register',
  prepare: async (world) => {
    const { client, control } = world;
    const tenantReference = randomUUID();
    const body = { tenantReference, gridLocations: [{ ean: newEan() }] };
    const run = async (withinMs: number) => {
      await repeat(client, [200, 201], withinMs, 'POST', '/users', body);
      const users = (await control.users()).filter((user) => user.tenantReference === tenantReference);
      const uncertain = await countEvents(
        world,
        'user.registration_uncertain',
        'tenantReference',
        tenantReference,
      );
      return [
        ...one('remote users', users.length),
        ...one('registered events', await countEvents(world, 'user.registered', 'userId', users[0]!.id)),
        ...(uncertain > 0 ? ['uncertain'] : []),
      ];
    };
    return { id: tenantReference, run };
  },
};

/** Registers a user with a token that the remote service has revoked, so that the service obtains another. */
export const renew: Flow = {
  name: 'renew the token',
  prepare: async (world) => {
    const { id, run } = await register.prepare(world);
    const renewAndRun = async (withinMs: number) => {
      await world.control.revokeTokens();
      return run(withinMs);
    };
    return { id, run: renewAndRun };
  },
};

export const start: Flow = {
  name: 'start',
  prepare: async (world) => {
    const { client, control } = world;
    const location = await client.locate();
    const run = async (withinMs: number) => {
      await repeat(client, [200, 201], withinMs, 'POST', `/onboarding/pv/${location}`);
      const sessions = (await control.sessions()).filter(({ gridLocationId }) => gridLocationId === location);
      const text = 'session_starts WHERE grid_location_id = $1 AND (status <> $2 OR orphans > 0)';
      const bad = await countOf(world, text, [location, 'started']);
      return [
        ...one('remote sessions', sessions.length),
        ...one(
          'started events',
          await countEvents(world, 'session.started', 'sessionId', sessions[0]!.sessionId),
        ),
        ...(bad > 0 ? [`${bad} failed starts`] : []),
      ];
    };
    return { id: location, run };
  },
};

const read: Flow = {
  name: 'read',
  prepare: async (world) => {
    const { client, control } = world;
    const { id: sessionId } = await client.startNew();
    const run = async (withinMs: number) => {
      await control.online(sessionId, { inverters: 1 });
      const isOnline = 'onboarding_sessions WHERE id = $1 AND state = $2';
      const look = async () => (await countOf(world, isOnline, [sessionId, 'online'])) === 1;
      await waitFor('the session is online', look, withinMs);
      return [
        ...one('online events', await countEvents(world, 'session.online', 'sessionId', sessionId)),
        ...one('inverter events', await countEvents(world, 'inverter.online', 'sessionId', sessionId)),
        ...one(
          'transitions',
          await countOf(world, 'session_transitions WHERE session_id = $1 AND to_state = $2', [
            sessionId,
            'online',
          ]),
        ),
      ];
    };
    return { id: sessionId, run };
  },
};

export const deliver: Flow = {
  name: 'deliver',
  prepare: async (world) => {
    const { client, receiver, database } = world;
    const path = `/${randomUUID()}`;
    const { id } = await makeEndpoint(client, receiver.url + path);
    const run = async (withinMs: number) => {
      const session = randomUUID();
      await appendOnline(database, session, '1');
      // The endpoint also gets the events of flows that run at the same time.
      const isSettled = `webhook_deliveries WHERE endpoint_id = $1 AND subject = $2 AND status = 'delivered'`;
      const look = async () => (await countOf(world, isSettled, [id, session])) === 1;
      await waitFor('the event is delivered', look, withinMs);
      const once = await countOf(world, `${isSettled} AND attempts = 1`, [id, session]);
      await database.query('DELETE FROM webhook_endpoints WHERE id = $1', [id]);
      return [
        ...one(
          'requests',
          receiver.received.filter((each) => each.path === path && each.body.includes(session)).length,
        ),
        ...one('recorded attempts', once),
      ];
    };
    return { id, run };
  },
};

export const erase: Flow = {
  name: 'erase',
  prepare: async (world) => {
    const { client, control } = world;
    const tenantReference = randomUUID();
    await client.start(await client.locate(tenantReference));
    const { id } = (await control.users()).find((user) => user.tenantReference === tenantReference)!;
    const run = async (withinMs: number) => {
      await repeat(client, [200], withinMs, 'DELETE', `/users/${id}`);
      return [
        ...one('erased events', await countEvents(world, 'user.erased', 'userId', id)),
        ...one('audit entries', await countOf(world, 'audit_log WHERE target = $1', [id])),
        ...one('receipts', await countOf(world, 'erasures WHERE user_id = $1', [id])),
      ];
    };
    return { id, run };
  },
};

export const decide: Flow = {
  name: 'decide',
  prepare: async (world) => {
    const { client, database } = world;
    const [id, userId, tenantReference] = [randomUUID(), randomUUID(), randomUUID()];
    const ean = newEan();
    await database.query(
      `INSERT INTO registrations (id, tenant_reference, eans, metadata, status, last_error, attempts)
       VALUES ($1, $2, ARRAY[$3], '{}', 'uncertain', 'its response was lost', 1)`,
      [id, tenantReference, ean],
    );
    const user = { id: userId, tenantReference, gridLocations: [{ id: randomUUID(), ean }] };
    const run = async (withinMs: number) => {
      // A 409 means that an earlier request decided, and then lost its connection.
      await repeat(client, [200, 409], withinMs, 'POST', `/registrations/${id}/resolve`, user);
      return [
        ...one('registered events', await countEvents(world, 'user.registered', 'userId', userId)),
        ...one('audit entries', await countOf(world, 'audit_log WHERE target = $1', [id])),
      ];
    };
    return { id, run };
  },
};

export const FLOWS: readonly Flow[] = [erase, decide, deliver, register, start, read];

import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { TestClient, type EventAnswer, type UserAnswer } from '../../setup/client.js';
import type { SandboxControl } from '../../setup/sandbox-control.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

const EAN = '376104250021234569';

interface Registration {
  readonly id: string;
  readonly status: string;
  readonly sequence: string | null;
}

type Mirrored = Pick<Registration, 'status' | 'sequence'>;

/** Replays events as a reader of the feed does, by the rule in docs/events.md. */
function mirror(events: readonly EventAnswer[]): Record<string, Mirrored> {
  const mirrored = new Map<string, Mirrored>();
  for (const { type, data, sequence } of events) {
    const status = /^pv\.user\.(?:registration_)?(\w+)\.v1$/.exec(type)?.[1];
    if (status === 'erased') for (const id of data.registrationIds as string[]) mirrored.delete(id);
    else if (status !== undefined) mirrored.set(data.registrationId as string, { status, sequence });
  }
  return Object.fromEntries(mirrored);
}

describe('a reader that mirrors registrations from the feed alone', () => {
  const service = useTestApp();
  const client = TestClient.of(service);
  let sandbox: SandboxControl;
  let events: readonly EventAnswer[];
  let listed: Record<string, Mirrored>;

  beforeAll(async () => {
    sandbox = service.sandbox!.control;
    await changeRegistrations();
    events = await client.events();
    const { body } = await client.call<{ items: Registration[] }>('GET', '/registrations?limit=200');
    listed = Object.fromEntries(body.items.map(({ id, status, sequence }) => [id, { status, sequence }]));
  });

  async function register(fault?: object): Promise<string> {
    const tenantReference = randomUUID();
    if (fault) await sandbox.addFault({ kind: 'reset', ...fault, contains: tenantReference });
    await client.call('POST', '/users', { tenantReference, gridLocations: [{ ean: EAN }] });
    const path = `/registrations?tenantReference=${tenantReference}`;
    return (await client.call<{ items: Registration[] }>('GET', path)).body.items[0]!.id;
  }

  const find = async (id: string) =>
    (await client.call<Registration & { tenantReference: string }>('GET', `/registrations/${id}`)).body;
  const decide = async (decision: string, id: string, request?: object) => {
    const path = `/registrations/${id}/${decision}`;
    const { status, body } = await client.call<Registration>('POST', path, request);
    expect(status).toBe(200);
    return body;
  };
  const waitForStatus = (status: string, id: string) =>
    waitFor(status, async () => (await find(id)).status === status);
  const resolve = async (id: string) => {
    const { tenantReference } = await find(id);
    const gridLocations = [{ id: randomUUID(), ean: EAN }];
    await decide('resolve', id, { id: randomUUID(), tenantReference, gridLocations });
  };

  /** Leaves at least one registration in each status. */
  async function changeRegistrations(): Promise<void> {
    await register();
    const rejected = await register({ kind: 'answer', status: 422, times: 2 });
    await decide('retry', rejected);
    await waitForStatus('rejected', rejected);
    await register({ effect: true });
    await decide('discard', await register({}));
    const retried = await register({});
    await decide('retry', retried);
    await waitForStatus('registered', retried);
    await resolve(await register({}));
    const resumed = await register({});
    await decide('discard', resumed);
    await resolve(resumed);
    const tenantReference = randomUUID();
    const request = { tenantReference, gridLocations: [{ ean: EAN }] };
    const { body: user } = await client.call<UserAnswer>('POST', '/users', request);
    expect(await client.call('DELETE', `/users/${user.id}`)).toMatchObject({ status: 200 });
    const later = await register({ kind: 'too_many_requests', retryAfter: '5' });
    expect(await find(later)).toMatchObject({ status: 'pending' });
    await waitForStatus('registered', later);
    // From now on, the remote service accepts no call, so each further registration stays pending.
    await register({ kind: 'too_many_requests', retryAfter: '600' });
    await decide('discard', await register());
  }

  it('has all of them, with the status and the sequence that the API returns', () => {
    expect(mirror(events)).toEqual(listed);
    const statuses = new Set(Object.values(listed).map(({ status }) => status));
    expect([...statuses].sort()).toEqual(['discarded', 'pending', 'registered', 'rejected', 'uncertain']);
  });
});

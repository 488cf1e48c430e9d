import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import { TestClient } from '../../setup/client.js';
import { newValidEan } from '../../setup/ean.js';
import { useTestApp } from '../../setup/test-app.js';

interface Registration {
  readonly id: string;
  readonly userId: string | null;
  readonly tenantReference: string;
  readonly metadata: object;
  readonly waitingFor: string | null;
  readonly stuckReason: string | null;
  readonly whatToDo: string | null;
}

describe('registrations', () => {
  const service = useTestApp();
  const client = TestClient.of(service);

  const register = async (request: { tenantReference: string; metadata?: object; eans?: string[] }) => {
    const { eans = [newValidEan()], ...user } = request;
    const gridLocations = eans.map((ean) => ({ ean }));
    await client.call('POST', '/users', { ...user, gridLocations });
    const path = `/registrations?tenantReference=${user.tenantReference}`;
    return (await client.call<{ items: Registration[] }>('GET', path)).body.items[0]!;
  };
  const lose = (contains: string) => service.sandbox!.control.addFault({ kind: 'reset', contains });
  const listed = async (query: string) => {
    const { status, body } = await client.call<{ items: Registration[] }>('GET', `/registrations?${query}`);
    expect(status).toBe(200);
    return body.items.map(({ tenantReference }) => tenantReference);
  };

  it('are found by EAN, by metadata and by both, the newest first', async () => {
    const [ean, campaign] = [newValidEan(), randomUUID()];
    const metadata = { campaign, size: 5 };
    await lose('lost-one');
    await register({ tenantReference: 'lost-one', eans: [newValidEan(), ean], metadata });
    await register({ tenantReference: 'same-ean', eans: [ean] });
    await register({ tenantReference: 'same-campaign', metadata: { ...metadata, size: '5' } });
    await register({ tenantReference: 'another', metadata: { campaign: [campaign] } });
    expect(await listed(`ean=${ean}`)).toEqual(['same-ean', 'lost-one']);
    expect(await listed(`metadata.campaign=${campaign}`)).toEqual(['same-campaign', 'lost-one']);
    expect(await listed(`metadata.campaign=${campaign}&metadata.size=5&ean=${ean}`)).toEqual(['lost-one']);
    expect(await listed(`metadata.campaign=${campaign}&status=registered`)).toEqual(['same-campaign']);
    expect(await listed(`ean=${newValidEan()}`)).toEqual([]);
  });

  it('say what they wait for, why they are stuck and what to do, in the words of admin.stuck', async () => {
    const [ended, lost] = [randomUUID(), randomUUID()];
    expect(await register({ tenantReference: ended })).toMatchObject({
      waitingFor: null,
      stuckReason: null,
      whatToDo: null,
    });
    await lose(lost);
    const { id, waitingFor, stuckReason, whatToDo } = await register({ tenantReference: lost });
    expect(waitingFor).toBe('a person, to decide: its outcome is unknown');
    const [stuck] = await service.app
      .get(Database)
      .query('SELECT reason, what_to_do FROM admin.stuck WHERE id = $1', [id]);
    expect({ reason: stuckReason, what_to_do: whatToDo }).toEqual(stuck);
    expect((await client.call('GET', `/registrations/${id}`)).body).toMatchObject({ stuckReason, whatToDo });
  });
});

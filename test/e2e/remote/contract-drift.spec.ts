import { beforeAll, describe, expect, it } from '@jest/globals';
import { recordDrift } from '../../../src/drift/drift.store.js';
import { Responses } from '../../../src/remote/responses.service.js';
import { foreignId } from '../../../src/remote/drift.js';
import { TestClient } from '../../setup/client.js';
import type { SandboxControl } from '../../setup/sandbox/sandbox-control.js';
import { useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';

const service = useTestApp({
  LOG_LEVEL: 'error',
  POLL_TICK_MS: 50,
  POLL_MIN_INTERVAL_MS: 100,
  POLL_MAX_INTERVAL_MS: 200,
});
const client = TestClient.of(service);
let sandbox: SandboxControl;

beforeAll(() => {
  sandbox = service.sandbox!.control;
});

const drifts = async (): Promise<string[]> =>
  (await client.events())
    .filter(({ type }) => type === 'pv.remote.contract_drift.v1')
    .map(({ subject, data: { kind, field, expected, found } }) =>
      [subject, kind, `${String(field)}:`, String(expected), '->', String(found)].join(' '),
    );

const driftCount = async (): Promise<number> =>
  (await client.call<{ remote: { deployment: { contractDrift: number } } }>('GET', '/status')).body.remote
    .deployment.contractDrift;

describe('remote.contract_drift', () => {
  it('announces nothing while every response is as documented, from the token to the inverters', async () => {
    const session = await client.startNew();
    await sandbox.online(session.id, { inverters: 2 });
    await client.untilState(session.id, 'online');
    expect(await drifts()).toEqual([]);
    expect(await driftCount()).toBe(0);
  });

  it('announces each difference once, by name and type, however many responses have it', async () => {
    const sessions = [await client.startNew(), await client.startNew(), await client.startNew()];
    for (const [index, { id }] of sessions.entries())
      await sandbox.fields(id, { set: { phase: `canary-${index}`, expired: 'no' }, absent: ['inverters'] });
    await waitFor('three differences', async () => (await driftCount()) >= 3);
    // Waits for further reads, which must not announce the same differences again.
    const readsOf = async () =>
      (await sandbox.requests()).filter(({ operation }) => operation === 'read_session');
    const before = (await readsOf()).length;
    await waitFor('further reads', async () => (await readsOf()).length > before + 6);
    expect((await drifts()).sort()).toEqual([
      'read_session missing_field inverters: array -> null',
      'read_session new_field phase: null -> string',
      'read_session other_type expired: boolean -> string',
    ]);
    expect(JSON.stringify(await client.events())).not.toContain('canary');
  });

  it('announces an undescribed combination of flags', async () => {
    const session = await client.startNew();
    await sandbox.fields(session.id, { set: { finished: true, active: true, inverters: [] } });
    await waitFor('the difference', async () => (await drifts()).length >= 4);
    expect((await drifts()).at(-1)).toBe(
      'read_session undescribed_flags finished=true active=true expired=false inverters=none: null -> null',
    );
  });

  it('announces a response that is not JSON, without its text', async () => {
    await sandbox.addFault({
      kind: 'answer',
      operation: 'register_user',
      effect: true,
      times: 1,
      status: 200,
      headers: { 'content-type': 'text/html' },
      body: '<html>canary@example.test</html>',
    });
    await client.call('POST', '/users', {
      tenantReference: 'drifting',
      gridLocations: [{ ean: '541448820044186577' }],
    });
    await waitFor('the difference', async () => (await drifts()).length >= 5);
    expect((await drifts()).at(-1)).toBe('register_user other_type body: object -> no JSON object');
    expect(JSON.stringify(await client.events())).not.toContain('canary@');
  });

  it('announces an id of another user, even if the limit of differences is reached', async () => {
    const responses = service.app.get(Responses);
    const field = (index: number) => ({
      kind: 'new_field' as const,
      field: `f${index}`,
      expected: null,
      found: null,
    });
    responses.reportDrift(
      'start_session',
      Array.from({ length: 50 }, (_, index) => field(index)),
    );
    await waitFor('as many as are recorded', async () => (await driftCount()) >= 50);
    responses.reportDrift('start_session', [field(50), foreignId('sessionId', 'another user')]);
    await waitFor('the difference', async () =>
      (await drifts()).includes('start_session foreign_id sessionId: null -> another user'),
    );
    expect((await drifts()).filter((drift) => drift.startsWith('start_session new_field'))).toHaveLength(50);
    // One that is known already is only seen again.
    expect(await recordDrift(service.database, 'start_session', [field(0), field(60)])).toEqual([]);
    const seenAgain = 'SELECT field FROM remote_drift WHERE last_seen_at > first_seen_at AND operation = $1';
    expect(await service.database.query(seenAgain, ['start_session'])).toEqual([{ field: 'f0' }]);
    // Each operation has a limit of its own.
    responses.reportDrift('register_user', [field(50)]);
    await waitFor('the difference', async () =>
      (await drifts()).includes('register_user new_field f50: null -> null'),
    );
  });
});

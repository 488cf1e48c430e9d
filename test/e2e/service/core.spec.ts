import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { SchedulerRegistry } from '@nestjs/schedule';
import { TestClient } from '../../setup/client.js';
import { startTestApp, useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { insertRow, tomorrow } from '../../db/valid-rows.js';
import { FEATURES } from '../../../src/app.module.js';

const FEATURE_PATHS =
  /^\/(i|console)\b|^\/api\/v1\/(events|bulk|registrations\/(decisions|.*\/)|webhook|invitations|funnel|brands|grid-locations|customers|search|campaigns|inverters|onboarding\/(pv\/.*\/timeline|starts)|stalled|api-keys|audit-log|status)/;

async function pathsOf(url: string): Promise<string[]> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object };
  return Object.keys(paths);
}

describe('the core without its features', () => {
  const service = useTestApp({}, { features: [] });
  const client = TestClient.of(service);

  it('onboards a customer, and records its events', async () => {
    const { id } = await client.startNew({ brand: 'sunward' });
    await service.sandbox!.control.complete(id, { onlineAfterMs: 0 });
    await waitFor(
      'an installation that is online',
      async () => (await client.session(id, '?maxAge=0')).state === 'online',
    );
    const events = 'SELECT name FROM domain_events WHERE subject = $1 ORDER BY position';
    const names = (await service.database.query<{ name: string }>(events, [id])).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['session.started', 'session.online']));
  });

  it('lists what recurs in a table, and in the SchedulerRegistry under the same names', async () => {
    const registry = service.app.get(SchedulerRegistry);
    const database = service.database;
    const recorded = () => database.query<{ name: string }>('SELECT name FROM admin.tasks');
    await waitFor('each task in both lists', async () => {
      const names = (await recorded()).map(({ name }) => name).sort();
      return names.includes('polls.claim') && isDeepStrictEqual(names, registry.getTimeouts().sort());
    });
  });

  it('describes none of their operations', async () => {
    const paths = await pathsOf(service.url);
    expect(paths).toContain('/api/v1/users');
    expect(paths.filter((path) => FEATURE_PATHS.test(path))).toEqual([]);
    expect((await client.call('GET', '/campaigns')).status).toBe(404);
  });
});

describe('a process', () => {
  const OF_ALL = [
    ...['access.delete_idempotency_keys', 'access.end_refused', 'access.record_refusals'],
    ...['events.maintain_handlers', 'habits.read', 'status.sample', 'tasks.record'],
  ];
  const OF_API = ['bulk_actions.run'];
  const OF_WORKERS = [
    ...['campaigns.cancel_forgotten', 'campaigns.delete_dead_uploads', 'campaigns.drain'],
    ...[
      'brands.find_outages',
      'campaigns.settle_decided',
      'events.deliver',
      'habits.count',
      'invitations.expire',
    ],
    ...['invitations.follow', 'invitations.follow_slowly', 'invitations.forget_guesses'],
    ...['invitations.fulfil_wishes', 'invitations.remind', 'polls.claim', 'polls.claim_settled'],
    ...['polls.measure_budget', 'polls.release_expired', 'polls.renew_leases', 'polls.start_reads'],
    ...['registrations.end_abandoned', 'registrations.send', 'retention.prune', 'stalls.look'],
    'starts.end_abandoned',
  ];

  it.each([
    ['api', [...OF_ALL, ...OF_API]],
    ['worker', [...OF_ALL, ...OF_WORKERS]],
    ['all', [...OF_ALL, ...OF_API, ...OF_WORKERS]],
  ] as const)('with ROLE %s has its tasks', async (ROLE, tasks) => {
    const { app, close } = await startTestApp({ ROLE });
    const registry = app.get(SchedulerRegistry);
    const listed = () => registry.getTimeouts().sort();
    // Those of a feature that is missing never come.
    await waitFor('the tasks', () => listed().length >= tasks.length);
    expect(listed()).toEqual(tasks.toSorted());
    await close();
  });

  it('with ROLE worker deletes and ends, now and then, what is over', async () => {
    const { database, close } = await startTestApp({ ROLE: 'worker' });
    for (const due_at of ['2001-02-03', tomorrow()]) await insertRow(database.pool, 'campaigns', { due_at });
    await insertRow(database.pool, 'campaigns', { status: 'paused', paused_at: '2001-02-03' });
    await insertRow(database.pool, 'idempotency_keys', { created_at: '2001-02-03' });
    await insertRow(database.pool, 'audit_log', { at: '2001-02-03' });
    await database.query(`INSERT INTO code_guesses VALUES ('cleared', '2001-02-03')`);
    await waitFor('nothing but the upload that goes on', async () => {
      await database.query(`UPDATE tasks SET due_at = clock_timestamp() - interval '1 ms'`);
      const left = `SELECT FROM campaigns WHERE status <> 'cancelled' UNION ALL SELECT FROM idempotency_keys UNION ALL SELECT FROM code_guesses
        UNION ALL SELECT FROM audit_log WHERE at < '2002-02-03'`;
      return (await database.query(left)).length === 1;
    });
    await close();
  });
});

describe('each feature', () => {
  it.each(FEATURES.map((feature) => [feature.name, feature] as const))(
    'may be left out: %s',
    async (_, left) => {
      const { close, url } = await startTestApp({}, { features: FEATURES.filter((one) => one !== left) });
      expect(await pathsOf(url)).toContain('/api/v1/users');
      await close();
    },
  );
});

import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { SchedulerRegistry } from '@nestjs/schedule';
import { TestClient } from '../../setup/client.js';
import { startTestApp, useTestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { FEATURES } from '../../../src/app.module.js';

const FEATURE_PATHS =
  /^\/(i|console)\b|^\/api\/v1\/(webhook|invitations|funnel|brands|grid-locations|customers|search|campaigns|status)/;

async function pathsOf(url: string): Promise<string[]> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object };
  return Object.keys(paths);
}

describe('the core without its features', () => {
  const service = useTestApp({}, { features: [] });
  const client = TestClient.of(service);

  it('onboards a customer, and tells it in the feed', async () => {
    const { id } = await client.startNew({ brand: 'sunward' });
    await service.sandbox!.control.complete(id, { onlineAfterMs: 0 });
    await waitFor(
      'an installation that is online',
      async () => (await client.session(id, '?maxAge=0')).state === 'online',
    );
    expect(await client.eventsOf(id)).toEqual(expect.arrayContaining(['session.started', 'session.online']));
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
